/* Checks programs and libraries that single commands use. A library counts if it can be loaded,
 * whether or not its package is installed. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore/graph/insn.h"
#include "explore/path/solver.h"
#include "doctor/checks.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "source/source.h"
#include "util/alloc.h"
#include "util/proc.h"

/* Runs `child` in a child process and gives the first line that it prints; NULL if it prints
 * nothing. */
static char *first_line(void (*child)(void *arg), void *arg)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n = -1;
	int fds[2];
	pid_t pid;
	FILE *in;

	if (pipe(fds) < 0)
		return NULL;
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		child(arg);
		_exit(127);
	}
	close(fds[1]);
	in = fdopen(fds[0], "r");
	if (in) {
		n = getline(&line, &room, in);
		while (fgetc(in) != EOF)
			;
		fclose(in);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (n <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void run_child(void *arg)
{
	char *const *argv = arg;

	execv(argv[0], argv);
}

char *program_says(char *const argv[])
{
	return first_line(run_child, (void *)argv);
}

/* Looks for a program that only some commands need, and fills the finding: with the program's
 * version and path, or with `todo` if the program is not installed. True: it is installed. */
static bool find_program(struct doctor_finding *f, const char *name, const char *todo)
{
	char *path = proc_find(name), option[] = "--version", *argv[] = { path, option, NULL };
	char *version = path ? program_says(argv) : NULL;

	if (version)
		finding_set(f, DOCTOR_OK, xasprintf("%s (%s)", version, path), NULL);
	else
		finding_set(f, DOCTOR_MISSING, xasprintf("%s is not installed", name),
			    xstrdup(todo));
	free(path);
	free(version);
	return f->state == DOCTOR_OK;
}

void check_clang(struct doctor_finding *f)
{
	if (!find_program(f, "clang",
			  "apt-get install clang; without it, 'pmend fix' counts callers instead"))
		f->state = DOCTOR_LIMITED;
}

void check_gdb(struct doctor_finding *f)
{
	char *found;

	if (!find_program(f, "gdb", "apt-get install gdb") || proc_can_trace())
		return;
	found = xasprintf("%s, but it may not trace programs here", f->found);
	finding_set(
		f, DOCTOR_MISSING, found,
		xstrdup("as root, set /proc/sys/kernel/yama/ptrace_scope to 1; in a container, allow ptrace (--cap-add SYS_PTRACE)"));
}

void check_libclang(struct doctor_finding *f)
{
	struct error err;
	char *folder = recorder_folder(&err);

	if (folder && source_load(folder, &err))
		finding_set(f, DOCTOR_OK, xasprintf("loaded by %s/libpmend_source.so", folder),
			    NULL);
	else
		finding_set(f, DOCTOR_MISSING, xstrdup(err.msg), xstrdup(source_todo));
	free(folder);
}

void check_z3(struct doctor_finding *f)
{
	struct error err;
	char *folder = recorder_folder(&err),
	     *file = folder ? xasprintf("%s/libpmend_solver.so", folder) : NULL;

	if (file && solver_api_load(file, &err))
		finding_set(f, DOCTOR_OK, xasprintf("loaded by %s", file), NULL);
	else
		finding_set(f, DOCTOR_MISSING, xstrdup(err.msg), xstrdup(solver_todo));
	free(file);
	free(folder);
}

void check_decoder(struct doctor_finding *f)
{
	if (insn_set.lack)
		finding_set(f, DOCTOR_LIMITED, xstrdup(insn_set.lack), xstrdup(insn_set.todo));
	else
		finding_set(f, DOCTOR_OK,
			    xasprintf("instructions of %s are decoded", machine_own()->says), NULL);
}

/* Loads a library, in a child process, because PMDK runs code when it is loaded. */
static void load_child(void *arg)
{
	void *library = dlopen(arg, RTLD_LAZY);
	struct link_map *map = NULL;
	char real[PATH_MAX];

	if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, real))
		dprintf(STDOUT_FILENO, "%s\n", real);
	_exit(0);
}

void check_pmdk(struct doctor_finding *f)
{
	char pmem[] = "libpmem.so.1", obj[] = "libpmemobj.so.1";
	char *first = first_line(load_child, pmem), *second = first_line(load_child, obj);

	if (first && second)
		finding_set(f, DOCTOR_OK, xasprintf("%s, %s", first, second), NULL);
	else
		finding_set(f, DOCTOR_MISSING, xasprintf("%s cannot be loaded", first ? obj : pmem),
			    xstrdup("only for programs on PMDK: apt-get install libpmemobj1"));
	free(first);
	free(second);
}
