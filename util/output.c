/* Runs a short program and returns its output. The program has a process group of its own, so
 * Ctrl-C reaches only pmend and never interrupts the program half-way. */
#include "util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/proc.h"

_Noreturn static void exec_program(const char *path, char *const argv[], int out, int errors)
{
	int in = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(errors, STDERR_FILENO) < 0)
		_exit(127);
	execv(path, argv);
	_exit(127);
}

/* Reads all that was written to a memfd as text, and closes it. */
static char *text_of(int fd)
{
	off_t len = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char *text = xcalloc(1, len > 0 ? (size_t)len + 1 : 1);

	if (len > 0 && pread(fd, text, (size_t)len, 0) != len)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

/* Gives the wait status, or -1 if the program could not be started. */
static int run_and_wait(const char *path, char *const argv[], int out, int errors)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		exec_program(path, argv, out, errors);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

char *output_of(char *const argv[], struct error *err)
{
	int out_fd = memfd_create("output", MFD_CLOEXEC),
	    error_fd = memfd_create("errors", MFD_CLOEXEC), status;
	char *path = proc_find(argv[0]), *out, *errors;
	bool is_well = false;

	status = path && out_fd >= 0 && error_fd >= 0 ? run_and_wait(path, argv, out_fd, error_fd)
						      : -1;
	out = text_of(out_fd);
	errors = text_of(error_fd);
	errors[strcspn(errors, "\n")] = '\0';
	if (!path)
		error_set(err, "%s is not installed here", argv[0]);
	else if (status == -1)
		error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
	else if (status != 0)
		error_set(err, "%s failed%s%s", argv[0], *errors ? ": " : "", errors);
	else
		is_well = true;
	free(path);
	free(errors);
	if (is_well)
		return out;
	free(out);
	return NULL;
}
