/* Runs a program once under our Valgrind tool, which writes the trace itself; then says what came of it.
 * The trace is written in place, so that a recording that is killed leaves what it has under the name that was asked
 * for. An old file of that name is destroyed only by a new recording. */
#include "session/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "session/header.h"
#include "session/target.h"
#include "util/alloc.h"
#include "util/proc.h"
#include "util/vec.h"

#define TOOL_BINARY "pmend-amd64-linux"
#define LOG_FD_FROM 100 /* the program under test inherits the log's descriptor: keep it out of the way of its own */

const struct platform *recording_platform(const struct command *c, const char *name)
{
	const struct platform *p = platform_find(name);

	if (!p)
		die_usage(c, "--platform is one of x86-adr, eadr, msync, not '%s'", name);
	return p;
}

char *recording_libexec(void)
{
	static const char *const places[] = { "libexec/pmend", "../libexec/pmend" };
	char exe[PATH_MAX], *binary, *folder, *real;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	bool found;
	size_t i;

	if (n < 0)
		die("cannot read /proc/self/exe: %s; is /proc mounted?", strerror(errno));
	exe[n] = '\0';
	dirname(exe);
	for (i = 0; i < sizeof places / sizeof places[0]; i++) {
		folder = xasprintf("%s/%s", exe, places[i]);
		binary = xasprintf("%s/" TOOL_BINARY, folder);
		found = access(binary, X_OK) == 0;
		real = found ? realpath(folder, NULL) : NULL;
		free(binary);
		free(folder);
		if (real)
			return real;
	}
	die("the recorder " TOOL_BINARY " is neither in %s/libexec/pmend nor in %s/../libexec/pmend; run 'make' or "
	    "'make install' again", exe, exe);
}

struct tool {
	char *valgrind, *folder;
};

static struct tool tool_find(void)
{
	struct tool tool = { .valgrind = proc_find("valgrind") };

	if (!tool.valgrind)
		die("valgrind is not installed, and recording needs it; try: apt-get install valgrind");
	tool.folder = recording_libexec();
	return tool;
}

static char *absolute_path(const char *path)
{
	char cwd[PATH_MAX];

	if (path[0] == '/')
		return xstrdup(path);
	if (!getcwd(cwd, sizeof cwd))
		die("cannot find the current folder: %s", strerror(errno));
	while (path[0] == '.' && path[1] == '/')
		for (path += 2; *path == '/'; path++)
			;
	return xasprintf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
}

/* A glob without a slash is for the base name, any other for the whole path. */
static char *pm_option(const char *glob)
{
	char *absolute = strchr(glob, '/') ? absolute_path(glob) : xstrdup(glob);
	char *option = xasprintf("--pm=%s", absolute);

	free(absolute);
	return option;
}

static void output_check(const char *path)
{
	char *copy = xstrdup(path), *folder = dirname(copy);
	struct stat st;
	int fd;

	if (stat(folder, &st) < 0)
		die("cannot write %s: the folder %s: %s", path, folder, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		die("cannot write %s: %s is not a folder", path, folder);
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			die("cannot write %s: it is a folder; name a file in it with -o", path);
		if (!S_ISREG(st.st_mode))
			die("cannot write %s: a trace must be a regular file", path);
		if (access(path, W_OK) < 0)
			die("cannot write %s: %s; choose another file with -o", path, strerror(errno));
	} else {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			die("cannot write %s: %s; choose another file with -o", path, strerror(errno));
		close(fd);
		unlink(path);
	}
	free(copy);
}

typedef VEC(char *) words;

static void words_add(words *w, char *word)
{
	*vec_add(w) = word;
}

/* All words are on the heap, except for the program's own at the end. */
static size_t command_line(words *w, const struct recording *r, const char *valgrind, const char *output, int log_fd,
			   char **target)
{
	size_t i, nours;

	words_add(w, xstrdup(valgrind));
	words_add(w, xstrdup("--command-line-only=yes")); /* no .valgrindrc: its options may not be our tool's */
	words_add(w, xstrdup("--tool=pmend"));
	words_add(w, xstrdup("-q"));
	words_add(w, xstrdup("--sigill-diagnostics=no"));
	words_add(w, xstrdup("--vgdb=no")); /* leaves files behind when it is killed */
	/* a fault handler that repairs the cause and returns must find all registers as they were */
	words_add(w, xstrdup("--vex-iropt-register-updates=allregs-at-mem-access"));
	words_add(w, xasprintf("--log-fd=%d", log_fd));
	words_add(w, xasprintf("--trace-children=%s", r->no_follow ? "no" : "yes"));
	words_add(w, xasprintf("--follow=%s", r->no_follow ? "no" : "yes")); /* for the trace to say so */
	words_add(w, xasprintf("--trace-file=%s", output));
	words_add(w, xasprintf("--platform=%s", r->platform->name));
	for (i = 0; i < r->pm.n; i++)
		words_add(w, pm_option(r->pm.item[i]));
	if (r->loads)
		words_add(w, xstrdup("--loads=yes"));
	if (r->instructions)
		words_add(w, xstrdup("--instructions=yes"));
	if (r->check_stacks)
		words_add(w, xstrdup("--check-stacks=yes"));
	nours = w->n;
	while (*target)
		words_add(w, *target++);
	words_add(w, NULL);
	return nours;
}

static int log_open(void)
{
	int fd = memfd_create("pmend-log", MFD_CLOEXEC), high;

	if (fd < 0)
		die("cannot make a temporary file: %s", strerror(errno));
	high = fcntl(fd, F_DUPFD, LOG_FD_FROM);
	if (high < 0)
		die("cannot use file descriptor %d: %s; raise 'ulimit -n'", LOG_FD_FROM, strerror(errno));
	close(fd);
	return high;
}

static void log_show(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof buf)) > 0)
		fwrite(buf, 1, (size_t)n, stderr);
}

char **recording_argv(const struct recording *r, const char *output, int log_fd, char **target)
{
	struct tool tool = tool_find();
	words w = { 0 };
	size_t nours = command_line(&w, r, tool.valgrind, output, log_fd, target);

	for (size_t i = nours; w.at[i]; i++)
		w.at[i] = xstrdup(w.at[i]);
	free(tool.valgrind);
	free(tool.folder);
	return w.at;
}

char **recording_env(const struct recording *r, char **env)
{
	char *folder = recording_libexec(), *library = xasprintf("VALGRIND_LIB=%s", folder);
	const char *changes[3] = { library, r->platform->has_flush && !getenv("PMEM_IS_PMEM_FORCE") ? "PMEM_IS_PMEM_FORCE=1" : NULL, NULL };
	char **changed = proc_env(env, changes), **copy;
	size_t n = 0;

	while (changed[n])
		n++;
	copy = xcalloc(n + 1, sizeof *copy);
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(changed[i]);
	free(changed);
	free(library);
	free(folder);
	return copy;
}

static int run(const struct recording *r, const struct tool *tool, const char *output, int log_fd, char **target)
{
	char *library = xasprintf("VALGRIND_LIB=%s", tool->folder);
	const char *changes[3] = { library, NULL, NULL };
	size_t i, nours;
	struct error err;
	words w = { 0 };
	char **env;
	int status;

	if (r->platform->has_flush && !getenv("PMEM_IS_PMEM_FORCE"))
		changes[1] = "PMEM_IS_PMEM_FORCE=1";
	env = proc_env(environ, changes);
	nours = command_line(&w, r, tool->valgrind, output, log_fd, target);
	if (proc_run(w.at, env, &status, &err) < 0)
		die("%s", err.msg);
	for (i = 0; i < nours; i++)
		free(w.at[i]);
	vec_release(&w);
	free(env);
	free(library);
	return status;
}

/* Recorders join a trace that they find. So an old one is put aside, and comes back if nothing was recorded. */
static char *old_put_aside(const char *output)
{
	char *old;

	if (access(output, F_OK) < 0)
		return NULL;
	old = xasprintf("%s.%d.old", output, getpid());
	if (rename(output, old) == 0)
		return old;
	free(old);
	if (truncate(output, 0) < 0) /* the folder is not writable, the file is */
		die("cannot write %s: %s; choose another file with -o", output, strerror(errno));
	return NULL;
}

static void old_settle(char *old, const char *output, bool is_recorded)
{
	if (!is_recorded)
		unlink(output); /* an empty file, if any */
	if (old && is_recorded)
		unlink(old);
	else if (old && rename(old, output) < 0)
		warn("the old trace is now called %s: %s", old, strerror(errno));
	free(old);
}

/* What became of the program; true if all is well. */
static bool ending_report(int status, const char *output)
{
	char name[64];

	if (WIFSIGNALED(status)) {
		warn("the program was killed by %s; the trace is complete up to there: %s",
		     proc_signal_name(WTERMSIG(status), name, sizeof name), output);
		return false;
	}
	if (WEXITSTATUS(status)) {
		warn("the program ended with exit status %d; the trace is complete up to there: %s", WEXITSTATUS(status),
		     output);
		return false;
	}
	return true;
}

static void no_pm_report(const struct recording *r)
{
	if (r->pm.n)
		warn("no persistent memory seen: the program made no writable MAP_SHARED mapping of a file that matches "
		     "--pm; a GLOB without '/' is matched with the file's name, any other with its whole path");
	else
		warn("no persistent memory seen: the program made no writable MAP_SHARED mapping of a file%s; --pm GLOB "
		     "can only narrow that down", r->no_follow ? " (its children were not followed)" : "");
}

static int report(const struct recording *r, const struct pmt_header *header, const char *output, int status)
{
	const struct pmt_header h = *header;
	bool is_well = ending_report(status, r->output);
	struct stat st;

	if (!h.finished && !h.error && WIFEXITED(status))
		warn("the recorder itself failed; its messages are above");
	if (h.error) {
		warn("the trace is incomplete, writing it failed: %s; what precedes is readable: %s", strerror((int)h.error),
		     r->output);
		is_well = false;
	}
	if (h.nfiles == 0) {
		no_pm_report(r);
		is_well = false;
	} else if (!r->quiet && !h.error) {
		warn("recorded %" PRIu64 " events on %" PRIu32 " file%s in %" PRIu32 " process%s: %s, %" PRIu64 " bytes", h.seq,
		     h.nfiles, h.nfiles == 1 ? "" : "s", h.nstreams, h.nstreams == 1 ? "" : "es", r->output,
		     stat(output, &st) == 0 ? (uint64_t)st.st_size : h.end);
	}
	if (h.bad_stacks) {
		warn("%" PRIu32 " call stacks differ from what Valgrind unwinds; the first ones are above", h.bad_stacks);
		is_well = false;
	}
	return is_well ? CMD_CLEAN : CMD_FAILED;
}

int recording_run(const struct recording *r, char **target)
{
	struct pmt_header h;
	struct tool tool;
	int log_fd, status;
	struct error err;
	char *output, *old;
	bool is_recorded;

	if (target_check(target[0], &err) < 0)
		die("%s", err.msg);
	output = realpath(r->output, NULL); /* so that a symbolic link stays one */
	if (!output)
		output = absolute_path(r->output);
	output_check(output);
	tool = tool_find();
	log_fd = log_open();
	old = old_put_aside(output);
	status = run(r, &tool, output, log_fd, target);
	is_recorded = header_read(&h, output, &err) == 0 && h.seq > 0;
	old_settle(old, output, is_recorded);
	if (!is_recorded || h.bad_stacks || (!h.finished && !h.error && WIFEXITED(status)))
		log_show(log_fd);
	if (!is_recorded)
		die("valgrind could not start the program (status %d); its messages, if any, are above",
		    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	status = report(r, &h, output, status);
	close(log_fd);
	free(tool.valgrind);
	free(tool.folder);
	free(output);
	return status;
}
