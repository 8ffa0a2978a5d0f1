/* Finds the recorder, and makes the command line that runs a program under it. The tool is searched
 * beside pmend's own binary, so that a build folder works like an installation. */
#include "record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmtrace.h"
#include "record/machine.h"
#include "util/files.h"
#include "util/alloc.h"
#include "util/proc.h"
#include "util/sysroot.h"
#include "util/tunables.h"
#include "util/vec.h"

char *recorder_folder(struct error *err)
{
	static const char *const places[] = { "libexec/pmend", "../libexec/pmend" };
	const char *tool = machine_own()->tool;
	char exe[PATH_MAX], *binary, *folder, *real;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	bool found;
	size_t i;

	if (n < 0) {
		error_set(err, "cannot read /proc/self/exe: %s; is /proc mounted?",
			  strerror(errno));
		return NULL;
	}
	exe[n] = '\0';
	dirname(exe);
	for (i = 0; i < sizeof places / sizeof places[0]; i++) {
		folder = xasprintf("%s/%s", exe, places[i]);
		binary = xasprintf("%s/%s", folder, tool);
		found = access(binary, X_OK) == 0;
		real = found ? realpath(folder, NULL) : NULL;
		free(binary);
		free(folder);
		if (real)
			return real;
	}
	error_set(
		err,
		"the recorder %s is neither in %s/libexec/pmend nor in %s/../libexec/pmend; run 'make' or 'make install' again",
		tool, exe, exe);
	return NULL;
}

/* Makes the option of a glob. Without a slash it is matched with the base name, otherwise with the
 * whole path. */
static char *glob_option(const char *name, const char *glob, struct error *err)
{
	char *absolute = strchr(glob, '/') ? path_absolute(glob, err) : xstrdup(glob);
	char *option = absolute ? xasprintf("--%s=%s", name, absolute) : NULL;

	free(absolute);
	return option;
}

/* Makes the option of a folder, by its real path, because descriptors give that. */
static char *folder_option(const char *name, const char *folder, struct error *err)
{
	char *real = realpath(folder, NULL), *option;
	struct stat st;

	if (!real || stat(real, &st) < 0) {
		error_set(err, "--%s %s: %s; make the folder first", name, folder, strerror(errno));
		free(real);
		return NULL;
	}
	if (!S_ISDIR(st.st_mode) || strcmp(real, "/") == 0) {
		error_set(err, "--%s %s: %s; name the folder that holds the program's files", name,
			  folder, S_ISDIR(st.st_mode) ? "that is everything" : "not a folder");
		free(real);
		return NULL;
	}
	option = xasprintf("--%s=%s", name, real);
	free(real);
	return option;
}

static char *word_option(const char *name, const char *word, struct error *err)
{
	(void)err;
	return xasprintf("--%s=%s", name, word);
}

typedef VEC(char *) words;

static void words_add(words *w, char *word)
{
	*vec_add(w) = word;
}

static void words_add_schedule(words *w, const struct schedule *s)
{
	words_add(w, xasprintf("--schedule=%" PRIu64, s->seed));
	words_add(w, xasprintf("--schedule-changes=%" PRIu32, s->changes));
	words_add(w, xasprintf("--schedule-span=%" PRIu64, s->span));
	if (s->hold_store) {
		words_add(w, xasprintf("--hold-store=%s", s->hold_store));
		words_add(w, xasprintf("--hold-load=%s", s->hold_load));
		words_add(w, xasprintf("--hold-skip=%" PRIu32, s->hold_skip));
	}
}

static void words_add_options(words *w, const struct recording *r, const char *output, int log_fd)
{
	struct word_list recipe = { 0 };
	const char *path;
	struct stat memory;
	uint64_t inode;

	/* ignores .valgrindrc, whose options may not exist in our tool */
	words_add(w, xstrdup("--command-line-only=yes"));
	words_add(w, xstrdup("--tool=pmend"));
	words_add(w, xstrdup("-q"));
	words_add(w, xstrdup("--sigill-diagnostics=no"));
	words_add(w, xstrdup("--vgdb=no")); /* leaves files behind when it is killed */
	/* a fault handler that repairs the cause and returns needs all registers as they were */
	words_add(w, xstrdup("--vex-iropt-register-updates=allregs-at-mem-access"));
	if (machine_own()->tool_option)
		words_add(w, xstrdup(machine_own()->tool_option));
	words_add(w, xasprintf("--log-fd=%d", log_fd));
	words_add(w, recorder_files_option());
	words_add(w, xasprintf("--trace-children=%s", r->no_follow ? "no" : "yes"));
	/* so that the trace says it */
	words_add(w, xasprintf("--follow=%s", r->no_follow ? "no" : "yes"));
	words_add(w, xasprintf("--trace-file=%s", output));
	words_add(w, xasprintf("--platform=%s", machine_recording(r->platform)->name));
	if (r->is_platform_open)
		words_add(w, xstrdup("--platform-open=yes"));
	if (r->scratch_pool)
		words_add(w, xasprintf("--scratch-pool=%s", r->scratch_pool));
	if (r->scratch_dir)
		words_add(w, xasprintf("--scratch-dir=%s", r->scratch_dir));
	recipe_words(&r->recipe, &recipe);
	for (size_t i = 0; i < recipe.n; i++)
		words_add(w, xasprintf("--recipe=%s", recipe.item[i]));
	word_list_release(&recipe);
	if (r->kept) {
		words_add(w, xasprintf("--keep-fd=%d", kept_socket(r->kept, &inode)));
		words_add(w, xasprintf("--keep-inode=%" PRIu64, inode));
	}
	if (r->memory_fd && fstat(r->memory_fd, &memory) == 0) {
		/* by name, because programs close descriptors before they execute others */
		words_add(w,
			  xasprintf("--memory-file=/proc/%d/fd/%d", (int)getpid(), r->memory_fd));
		words_add(w, xasprintf("--memory-inode=%" PRIu64, (uint64_t)memory.st_ino));
	}
	if (r->loads)
		words_add(w, xstrdup("--loads=yes"));
	if (r->threads)
		words_add(w, xstrdup("--threads=yes"));
	if (r->schedule)
		words_add_schedule(w, r->schedule);
	if (r->old_bytes)
		words_add(w, xstrdup("--old-bytes=yes"));
	if (r->instructions)
		words_add(w, xstrdup("--instructions=yes"));
	if (r->fresh && set_aside_stops(r->fresh))
		words_add(w, xstrdup("--stop-at-old=yes"));
	for (size_t i = 0; r->fresh && set_aside_touchable(r->fresh, i, &path); i++)
		words_add(w, xasprintf("--may-touch=%s", path));
	if (r->check_stacks)
		words_add(w, xstrdup("--check-stacks=yes"));
}

int recorder_memory(void)
{
	int fd = memfd_create("pmend", MFD_CLOEXEC);

	if (fd > 0 && ftruncate(fd, PMT_MEMORY_BYTES) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return 0;
}

#define FILES_MOST 65536u /* Valgrind and the kernel have a table of that length per process */

void recorder_raise_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= FILES_MOST)
		return;
	l.rlim_cur = l.rlim_max < FILES_MOST ? l.rlim_max : FILES_MOST;
	setrlimit(RLIMIT_NOFILE, &l);
}

char *recorder_files_option(void)
{
	struct rlimit l = { 0 };

	getrlimit(RLIMIT_NOFILE, &l);
	return xasprintf("--open-files=%llu", (unsigned long long)l.rlim_cur);
}

void recording_open_platform(struct recording *r, bool is_open)
{
	r->platform = machine_platform();
	r->is_platform_open = is_open;
}

char **recorder_argv(const struct recording *r, const char *output, int log_fd, char **target,
		     struct error *err)
{
	const struct {
		const char *name;
		const struct word_list *words;
		char *(*option)(const char *name, const char *word, struct error *err);
	} lists[] = { { "pm", &r->pm, glob_option },
		      { "files", &r->files, folder_option },
		      { "files-except", &r->files_except, glob_option },
		      { "lock-call", &r->lock_calls, word_option },
		      { "unlock-call", &r->unlock_calls, word_option } };
	char *valgrind = proc_find("valgrind"), *option;
	words w = { 0 };

	if (!valgrind) {
		error_set(
			err,
			"valgrind is not installed, and recording needs it; try: apt-get install valgrind");
		return NULL;
	}
	words_add(&w, valgrind);
	words_add_options(&w, r, output, log_fd);
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (size_t i = 0; i < lists[k].words->n; i++) {
			option = lists[k].option(lists[k].name, lists[k].words->item[i], err);
			words_add(&w, option);
			if (!option) {
				words_free(w.at);
				return NULL;
			}
		}
	while (*target)
		words_add(&w, xstrdup(*target++));
	words_add(&w, NULL);
	return w.at;
}

char **recorder_env(const struct recording *r, char **env, struct error *err)
{
	char *folder = recorder_folder(err), *library, *tunables,
	     *libraries = sysroot() ? sysroot_libraries(sysroot()) : NULL;
	const char *changes[5] = { NULL };
	size_t n = 0;
	char **changed, **copy;

	if (!folder) {
		free(libraries);
		return NULL;
	}
	changes[n++] = library = xasprintf("VALGRIND_LIB=%s", folder);
	changes[n++] = tunables = tunables_env();
	if (r->platform->has_flush && !getenv("PMEM_IS_PMEM_FORCE"))
		changes[n++] = "PMEM_IS_PMEM_FORCE=1";
	if (libraries)
		changes[n++] = libraries;
	changed = proc_env(env, changes);
	copy = words_copy(changed, 0);
	free(changed);
	free(library);
	free(tunables);
	free(libraries);
	free(folder);
	return copy;
}
