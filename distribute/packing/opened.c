/* Runs recovery on a few states of the trace in which nothing is lost, and packs the files that the
 * runtime saw it use. A statically linked recovery contains no runtime and leaves no notes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/files/files_explore.h"
#include "crash/search/verdict.h"
#include "crash/states/walk.h"
#include "distribute/packing/internal.h"
#include "util/tempdir.h"

#define FOLDER_MAX_BYTES ((uint64_t)64 << 20)

/* Asks whether the path is a folder in which programs look for what they might load. */
static bool is_of_system(const char *path)
{
	static const char *const folders[] = {
		"/usr/", "/lib", "/etc/", "/proc/", "/sys/", "/dev/"
	};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

/* Packs a folder that recovery lists, with its files, because listing shows all of them. */
static void folder_take(struct packing *p, const char *path)
{
	DIR *d = is_of_system(path) ? NULL : opendir(path);
	uint64_t bytes = 0;
	struct dirent *e;
	struct stat st;

	tree_add(p, path);
	while (d && (e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (d && bytes > FOLDER_MAX_BYTES)
		tree_lack(
			p,
			"recovery lists the folder %s, which is too large to pack (%llu MiB): only the files that it opens are packed",
			path, (unsigned long long)(bytes >> 20));
	if (d)
		rewinddir(d);
	while (d && bytes <= FOLDER_MAX_BYTES && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			char *inside = xasprintf("%s/%s", path, e->d_name);

			tree_add(p, inside);
			free(inside);
		}
	if (d)
		closedir(d);
}

static void note_take(struct packing *p, enum run_note how, const char *path)
{
	switch (how) {
	case RUN_NOTE_SOCKET:
		tree_lack(
			p,
			"recovery uses %s%s, which cannot be packed: it must exist where the bundle runs",
			path[1] ? "the socket " : "the network", path[1] ? path : "");
		return;
	case RUN_NOTE_LIST: folder_take(p, path); return;
	case RUN_NOTE_READ:
	case RUN_NOTE_EXEC:
	case RUN_NOTE_WRITE: tree_add(p, path); return;
	}
}

static int notes_read(struct packing *p, const char *path, struct error *err)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	if (!in)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	while ((n = getdelim(&text, &room, 0, in)) > 0)
		if (n > 2)
			note_take(p, (enum run_note)text[0], text + 1);
	free(text);
	fclose(in);
	return 0;
}

/* Judges a run in which nothing was lost. 1: recovery did not end. */
static int judge(struct packing *p, const struct verdict *v, bool is_end)
{
	char *text;

	if (!verdict_is_slow(v) && (!is_end || v->kind == VERDICT_OK))
		return 0;
	text = verdict_text(v);
	tree_lack(
		p,
		"recovery failed during packing although nothing is lost (%s), so files that it opens later are not packed",
		text);
	free(text);
	return verdict_is_slow(v);
}

static int judge_files(const struct verdict *v, bool is_end, void *arg)
{
	return judge(arg, v, is_end);
}

/* Runs recovery at the failure point where the walk is. 1: recovery did not end. */
static int run_at(struct packing *p, struct crash_setup *s, const struct walk *w,
		  struct runner *runner, struct error *err)
{
	struct state_set set = { 0 };
	struct verdict v;
	uint64_t *newest;
	int result;

	states_collect_newest(&set, w->model);
	newest = states_newest(&set);
	runner_load(runner, &w->image, &set);
	recovery_set_moment(&s->recovery, runner, w->plan, w->is_over ? UINT64_MAX : w->ev.seq);
	runner_begin(runner, newest, false);
	result = verdict_run(&v, runner, &s->recovery, NULL, err);
	if (result == 0)
		result = judge(p, &v, w->is_over);
	free(newest);
	states_release(&set);
	return result;
}

/* Runs recovery at the beginning, at the failure points 1, 2, 4, 8, …, and at the end. */
static int run_all(struct packing *p, struct crash_setup *s, const struct plan *plan,
		   struct error *err)
{
	struct runner *runner;
	struct walk w;
	int result;

	if (s->has_files)
		return files_run_clean(plan, &s->options, judge_files, p, err);
	runner = runner_new(&s->options.runner, plan->mappings.at, plan->mappings.n, err);
	if (!runner)
		return -1;
	walk_init(&w, plan, s->options.stops);
	walk_enter(&w);
	result = run_at(p, s, &w, runner, err);
	while (result == 0 && walk_next(&w))
		if ((w.point & (w.point - 1)) == 0)
			result = run_at(p, s, &w, runner, err);
	if (result == 0)
		result = run_at(p, s, &w, runner, err);
	walk_release(&w);
	runner_free(runner);
	return result < 0 ? -1 : 0; /* a recovery that hangs once is not tried again */
}

int opened_add(struct packing *p, struct crash_setup *s, const struct plan *plan, struct error *err)
{
	struct tempdir folder;
	char *path;
	int fd, result = -1;

	if (tempdir_open(&folder, err) < 0)
		return -1;
	path = xasprintf("%s/notes", folder.path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		error_set(err, "cannot write %s: %s", path, strerror(errno));
	} else {
		close(fd);
		setenv(RUN_ENV_NOTES, path, 1);
		result = run_all(p, s, plan, err);
		unsetenv(RUN_ENV_NOTES);
		if (result == 0)
			result = notes_read(p, path, err);
	}
	free(path);
	tempdir_close(&folder);
	return result;
}
