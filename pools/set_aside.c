/* Moves PM files out of the way and restores them. A file is renamed within its folder to
 * .NAME.pmend-fresh-PID and later renamed back, so content, owner, mode, times and hard links stay.
 *
 * The recorder ends the program at each such file; then the file is moved, and the program is run
 * again. A file that the program is about to change before mapping it is copied to that name
 * instead, because it is not yet known whether it will be mapped. Before the next run, copied files
 * get their content back, and files that the ended run created are removed, so only the last run
 * leaves traces. A guardian process restores everything even if pmend is killed. */
#include "pools/set_aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pools/entries.h"
#include "pools/guardian.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/str.h"
#include "util/vec.h"

#define RUNS_MAX 256u /* runs of one program; by then, that many files are out of the way */

struct moved {
	char *path, *aside;
	bool is_copy; /* the file itself is still in its place */
	struct stat before;
};
typedef VEC(struct moved) moved_files;

struct set_aside {
	pid_t owner; /* 0 when it is over */
	moved_files files;
	VEC(char *) folders; /* that were emptied */
	/* paths at which the recorder need not stop again, as the recorder names them */
	VEC(char *) touched;
	int guardian;
	unsigned nruns;
	bool stops;
	bool keeps_copies; /* the user needs them, because content could not be restored */
};

/* Allows writes to the files of standard input, output and error, which are no pools. */
static void may_write(struct set_aside *f, int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n > 0 && path[0] == '/')
		*vec_add(&f->touched) = xasprintf("%.*s", (int)n, path);
}

static void set_aside_at_exit(int status, void *arg);

struct set_aside *set_aside_begin(struct error *err)
{
	struct set_aside *f = xcalloc(1, sizeof *f);

	f->stops = true;
	for (int fd = 0; fd <= 2; fd++)
		may_write(f, fd);
	f->guardian = guardian_start(err);
	if (f->guardian >= 0) {
		f->owner = getpid();
		on_exit(set_aside_at_exit, f);
		return f;
	}
	for (size_t i = 0; i < f->touched.n; i++)
		free(f->touched.at[i]);
	vec_release(&f->touched);
	free(f);
	return NULL;
}

/* ---- finding the file ---- */

bool set_aside_stops(const struct set_aside *f)
{
	return f->stops;
}

bool set_aside_touchable(const struct set_aside *f, size_t i, const char **path)
{
	*path = i < f->touched.n ? f->touched.at[i] : NULL;
	return *path != NULL;
}

struct made {
	char *path;
	uint64_t dev, ino; /* 0 if unknown */
	bool is_pm;
};

/* Where a recording was ended, and the files that it had created by then. */
struct stop {
	/* the file that was mapped, or the one that was about to be changed; both NULL if it was
	 * not ended early */
	char *mapped, *touched;
	VEC(struct made) made;
};

static void stop_release(struct stop *s)
{
	for (size_t i = 0; i < s->made.n; i++)
		free(s->made.at[i].path);
	vec_release(&s->made);
	free(s->mapped);
	free(s->touched);
}

/* Reads "made=DEV INO PATH". */
static void note_made(struct stop *s, const char *text, size_t len)
{
	char *copy = xasprintf("%.*s", (int)len, text);
	unsigned long long dev, ino;
	int at = 0;

	if (sscanf(copy, "made=%llu %llu %n", &dev, &ino, &at) == 2 && at > 0)
		*vec_add(&s->made) = (struct made){ xstrdup(copy + at), dev, ino, false };
	free(copy);
}

static int stop_read(struct stop *s, const char *trace, struct error *err)
{
	struct trace_event ev;
	struct trace *t;

	*s = (struct stop){ 0 };
	if (trace_open(&t, trace, err) < 0)
		return -1;
	while (trace_next(t, &ev))
		if (ev.kind == PMT_META)
			note_made(s, (const char *)ev.data, ev.data_len);
		else if (ev.kind == PMT_FILE && ev.arg[2] & PMT_FILE_CREATED)
			*vec_add(&s->made) = (struct made){ xasprintf("%.*s", (int)ev.data_len,
								      (const char *)ev.data),
							    ev.arg[3], ev.arg[4], true };
		else if (ev.kind == PMT_RENAME) /* a PM file got this name */
			*vec_add(&s->made) = (struct made){ xasprintf("%.*s", (int)ev.data_len,
								      (const char *)ev.data),
							    0, 0, true };
	if (trace_meta(t, "mapped"))
		s->mapped = xstrdup(trace_meta(t, "mapped"));
	if (trace_meta(t, "touched"))
		s->touched = xstrdup(trace_meta(t, "touched"));
	trace_close(t);
	return 0;
}

static struct moved *find_moved(struct set_aside *f, const char *path)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (strcmp(f->files.at[i].path, path) == 0)
			return &f->files.at[i];
	return NULL;
}

/* Marks the copy of a PM file that the program has replaced as the user's file, which must be
 * restored at the end. A program that unlinks its pool and creates a new one, or renames a new one
 * over it, never maps the old one, so there is only that copy of it. */
static int claim_made(struct set_aside *f, const struct stop *s, struct error *err)
{
	for (size_t i = 0; i < s->made.n; i++) {
		struct moved *m = find_moved(f, s->made.at[i].path);

		if (!m || !m->is_copy || !s->made.at[i].is_pm)
			continue;
		if (guardian_tell(f->guardian, GUARDIAN_MOVE, m->path, m->aside, err) < 0)
			return -1;
		m->is_copy = false;
	}
	return 0;
}

/* Removes files that the ended run created: it did not find them, so the next run must not
 * either. */
static void remove_made(const struct stop *s)
{
	struct stat st;

	for (size_t i = 0; i < s->made.n; i++)
		if (lstat(s->made.at[i].path, &st) == 0 && st.st_dev == s->made.at[i].dev &&
		    st.st_ino == s->made.at[i].ino)
			unlink(s->made.at[i].path);
}

static char *name_aside(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xasprintf("%.*s.%s.pmend-fresh-%d", (int)(slash + 1 - path), path, slash + 1,
			 (int)getpid());
}

/* Is the path one of the names that moved or copied files have now? A program may remove everything
 * in the folder; the guardian still has the file open. */
static bool is_aside(const struct set_aside *f, const char *path)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (strcmp(f->files.at[i].aside, path) == 0)
			return true;
	return false;
}

static void moved_release(struct moved *m)
{
	free(m->path);
	free(m->aside);
}

static int copy_aside(const struct moved *m)
{
	int in = open(m->path, O_RDONLY | O_CLOEXEC),
	    result = in < 0 ? -1 : guardian_copy(in, m->aside);

	if (in >= 0)
		close(in);
	return result;
}

/* Gives the number of another pmend that has this file out of the way at the moment, because what
 * is there now is that pmend's and not the user's. 0 if there is none. */
static int other_pmend(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = xasprintf("%.*s", (int)(slash + 1 - path), path),
	     *begin = xasprintf(".%s.pmend-fresh-", slash + 1);
	struct dirent *e;
	DIR *d = opendir(folder);
	int found = 0;

	while (d && !found && (e = readdir(d)))
		if (strncmp(e->d_name, begin, strlen(begin)) == 0) {
			int pid = atoi(e->d_name + strlen(begin));

			if (pid > 0 && pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM))
				found = pid;
		}
	if (d)
		closedir(d);
	free(folder);
	free(begin);
	return found;
}

static bool is_with_other(const char *path, struct error *err)
{
	const int other = other_pmend(path);

	if (other)
		error_set(
			err,
			"--fresh: another pmend (process %d) is recording without %s; wait until it has restored it",
			other, path);
	return other != 0;
}

/* Moves or copies a file, after telling the guardian. */
static int move_aside(struct set_aside *f, const char *path, bool is_copy, struct error *err)
{
	struct moved m = { .path = xstrdup(path), .aside = name_aside(path), .is_copy = is_copy };
	int result = -1;

	if (stat(path, &m.before) < 0)
		m.before = (struct stat){ 0 };
	if (is_with_other(m.path, err)) {
		/* err says so */
	} else if (access(m.aside, F_OK) == 0) {
		error_set(err, "--fresh: cannot move %s away: %s already exists", m.path, m.aside);
	} else if (guardian_tell(f->guardian, is_copy ? GUARDIAN_COPY : GUARDIAN_MOVE, m.path,
				 m.aside, err) == 0) {
		result = is_copy ? copy_aside(&m) : rename(m.path, m.aside);
		if (result < 0)
			error_set(err, "--fresh: cannot %s %s: %s", is_copy ? "copy" : "move",
				  m.path, strerror(errno));
	}
	if (result < 0)
		moved_release(&m);
	else
		*vec_add(&f->files) = m;
	return result;
}

/* Moves the entries of a folder. Only when all of them are gone may the guardian remove what the
 * folder holds at the end. */
static int empty_folder(struct set_aside *f, const char *path, const char *aside, struct error *err)
{
	if (mkdir(aside, 0700) < 0)
		return error_set(err, "--fresh: cannot make the folder %s: %s", aside,
				 strerror(errno));
	if (guardian_tell(f->guardian, GUARDIAN_FOLDER, path, aside, err) < 0 ||
	    entries_move(path, aside, err) < 0)
		return -1;
	return guardian_tell(f->guardian, GUARDIAN_EMPTIED, path, aside, err);
}

/* Asks whether the current folder would be moved away with the entries of this one: the program
 * would find the user's files in it. */
static bool is_inside(const char *path)
{
	char *now = getcwd(NULL, 0);
	const bool result = now && strcmp(path_below(now, path), now) != 0;

	free(now);
	return result;
}

int set_aside_folder(struct set_aside *f, const char *name, struct error *err)
{
	char *path = realpath(name, NULL), *aside = path ? name_aside(path) : NULL;
	int result = -1;

	if (!path)
		error_set(err, "--fresh: cannot find the folder %s: %s", name, strerror(errno));
	else if (is_inside(path))
		error_set(
			err,
			"--fresh: the current folder is below %s, which becomes empty; start pmend elsewhere",
			path);
	else if (!is_with_other(path, err))
		result = empty_folder(f, path, aside, err);
	free(aside);
	if (result == 0)
		*vec_add(&f->folders) = path;
	else
		free(path);
	return result;
}

static int empty_again(const struct set_aside *f, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < f->folders.n && result == 0; i++)
		result = entries_erase(f->folders.at[i], err);
	return result;
}

/* Puts the user's own file in the place of its copy, unless the program has replaced it. */
static int take_aside(struct set_aside *f, struct moved *m, struct error *err)
{
	int rewound;

	if (guardian_tell(f->guardian, GUARDIAN_MOVE, m->path, m->aside, err) < 0)
		return -1;
	m->is_copy = false;
	rewound = guardian_rewind(m->aside, m->path, &m->before);
	if (rewound < 0 || (rewound == 0 ? rename(m->path, m->aside) : unlink(m->path)) < 0)
		return error_set(err, "--fresh: cannot move %s: %s", m->path, strerror(errno));
	return 0;
}

/* Moves a mapped file away, so the run can begin without it. If it exists again after it was moved,
 * another program of the run creates it, which the recorder does not know; then that is right. */
static int clear_mapped(struct set_aside *f, const char *path, struct error *err)
{
	struct moved *m = find_moved(f, path);

	if (!m)
		return move_aside(f, path, false, err);
	if (m->is_copy)
		return take_aside(f, m, err);
	f->stops = false;
	return unlink(path) == 0 || errno == ENOENT
		       ? 0
		       : error_set(err, "--fresh: cannot remove %s: %s", path, strerror(errno));
}

/* Restores files that an ended run has changed, so the change is not made twice. */
static int rewind_copies(struct set_aside *f, struct error *err)
{
	for (size_t i = 0; i < f->files.n; i++) {
		const struct moved *m = &f->files.at[i];

		if (m->is_copy && guardian_rewind(m->aside, m->path, &m->before) < 0)
			return error_set(
				err, "--fresh: cannot restore the content of %s: %s; it is in %s",
				m->path, strerror(errno), m->aside);
	}
	return 0;
}

/* Restores the copied files when nothing was recorded. A copy that cannot be restored stays. */
static void rewind_all(struct set_aside *f)
{
	struct error ignored;

	f->keeps_copies |= rewind_copies(f, &ignored) < 0;
}

/* Copies a file that the program is about to change, because it may be PM. */
static int save_touched(struct set_aside *f, const char *touched, struct error *err)
{
	char *path = realpath(touched, NULL);
	int result = 0;

	if (path && !find_moved(f, path) && !is_aside(f, path))
		result = move_aside(f, path, true, err);
	*vec_add(&f->touched) = xstrdup(touched);
	free(path);
	return result;
}

int set_aside_clear(struct set_aside *f, const char *trace, struct error *err)
{
	struct stop s;
	int result = 0;

	if (!f->stops)
		return 0;
	if (stop_read(&s, trace, err) < 0) {
		rewind_all(f);
		return -1;
	}
	if (s.mapped || s.touched) {
		remove_made(&s);
		if (++f->nruns > RUNS_MAX)
			result = error_set(
				err,
				"--fresh: the program uses %s and more files than that; name the pool with --pm",
				s.mapped ? s.mapped : s.touched);
		else
			result = s.mapped ? clear_mapped(f, s.mapped, err)
					  : save_touched(f, s.touched, err);
		if (result == 0)
			result = rewind_copies(f, err);
		if (result == 0)
			result = empty_again(f, err);
		if (result == 0)
			result = 1;
	} else {
		result = claim_made(f, &s, err);
	}
	stop_release(&s);
	if (result < 0)
		rewind_all(f);
	return result;
}

const char *set_aside_first(const struct set_aside *f)
{
	for (size_t i = 0; i < f->files.n; i++)
		if (!f->files.at[i].is_copy)
			return f->files.at[i].path;
	return NULL;
}

/* ---- the end ---- */

int set_aside_end(struct set_aside *f, struct error *err)
{
	int result;

	if (!f)
		return 0;
	result = guardian_end(f->guardian, !f->keeps_copies, err);
	for (size_t i = 0; i < f->files.n; i++)
		moved_release(&f->files.at[i]);
	for (size_t i = 0; i < f->touched.n; i++)
		free(f->touched.at[i]);
	for (size_t i = 0; i < f->folders.n; i++)
		free(f->folders.at[i]);
	vec_release(&f->touched);
	vec_release(&f->files);
	vec_release(&f->folders);
	f->owner = 0; /* set_aside_at_exit() frees it */
	return result;
}

/* Restores all files when pmend exits in the middle, as when memory is out: nothing was recorded
 * then. A process that was forked meanwhile is not the owner. */
static void set_aside_at_exit(int status, void *arg)
{
	struct set_aside *f = arg;
	struct error ignored;

	(void)status;
	if (f->owner == getpid()) {
		rewind_all(f);
		guardian_end(f->guardian, !f->keeps_copies, &ignored);
	}
	free(f);
}
