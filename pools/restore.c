/* Restores pool files from a trace. The file is renamed to PATH.pmend-PID in its folder and, if it
 * existed before the recording, a new one is written with the content that the trace has. No byte
 * is overwritten, and if pmend dies, both files exist.
 *
 * Refused are devices, files with several names, files that were renamed, removed or replaced, and
 * traces without all changes. Limit: a trace knows a file from its first mapping on; what the
 * program wrote before that stays. */
#include "pools/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"
#include "util/alloc.h"
#include "util/vec.h"

struct pool_file {
	char *path, *aside; /* aside: its present name; NULL if it was not moved */
	uint64_t size_bytes, dev, ino;
	uint32_t number, stream;  /* stream: the process whose event described the file */
	bool is_created, is_gone; /* by the recorded program */
	bool is_content_known;    /* that process wrote all content of the file when it mapped it */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	int fd; /* of the new file, while it is written */
};

struct restore {
	VEC(struct pool_file) files;
	bool skips_followed;
};

static void putback_free(struct restore *p)
{
	for (size_t i = 0; i < p->files.n; i++) {
		free(p->files.at[i].path);
		free(p->files.at[i].aside);
	}
	vec_release(&p->files);
	free(p);
}

static struct pool_file *file_find(struct restore *p, uint64_t number)
{
	for (size_t i = 0; i < p->files.n; i++)
		if (p->files.at[i].number == number)
			return &p->files.at[i];
	return NULL;
}

/* ---- reading the trace ---- */

static int note_file(struct restore *p, const struct trace_event *ev, struct error *err)
{
	struct pool_file *f;

	if ((ev->arg[2] & PMT_FILE_MEMORY) ||
	    (p->skips_followed && (ev->arg[2] & PMT_FILE_FOLLOWED)))
		return 0;
	if (file_find(p, ev->arg[0]))
		return 0;
	f = vec_add(&p->files);
	*f = (struct pool_file){ .number = (uint32_t)ev->arg[0],
				 .size_bytes = ev->arg[1],
				 .is_created = ev->arg[2] & PMT_FILE_CREATED,
				 .dev = ev->arg[3],
				 .ino = ev->arg[4],
				 .fd = -1 };
	f->path = xasprintf("%.*s", (int)ev->data_len, (const char *)ev->data);
	f->stream = ev->stream;
	if (ev->arg[2] & PMT_FILE_DEVICE)
		return error_set(err, "%s is a device, which cannot be restored", f->path);
	return 0;
}

static int note_event(struct restore *p, const struct trace_event *ev, struct error *err)
{
	struct pool_file *f;

	switch (ev->kind) {
	case PMT_FILE: return note_file(p, ev, err);
	case PMT_INCOMPLETE:
		return error_set(err, "the trace does not have all changes: %.*s",
				 (int)ev->data_len, ev->data);
	case PMT_RENAME:
		if (p->skips_followed && !file_find(p, ev->arg[0]))
			return 0;
		return error_set(err, "the program renamed a file to %.*s", (int)ev->data_len,
				 ev->data);
	case PMT_UNLINK:
		f = file_find(p, ev->arg[0]);
		if (f && !f->is_created)
			return error_set(err, "the program removed %s", f->path);
		if (f)
			f->is_gone = true;
		return 0;
	case PMT_MAP:
		f = file_find(p, PMT_FILE(ev->addr));
		if (f && f->stream == ev->stream)
			f->is_content_known = true;
		return 0;
	default: return 0; /* not about files */
	}
}

/* Does the trace hold the content of all files? A killed process may not have recorded it. */
static bool are_contents_known(const struct restore *p)
{
	for (size_t i = 0; i < p->files.n; i++)
		if (!p->files.at[i].is_content_known)
			return false;
	return true;
}

static int trace_read(struct restore *p, const char *path, struct error *err)
{
	struct trace_event ev;
	struct trace *t;
	int result = 0;

	if (trace_open(&t, path, err) < 0)
		return -1;
	while (result == 0 && trace_next(t, &ev))
		result = note_event(p, &ev, err);
	if (result == 0 && trace_damage(t) && !(trace_is_cut_off(t) && are_contents_known(p)))
		result = error_set(err, "the trace is damaged: %s", trace_damage(t));
	trace_close(t);
	return result;
}

/* ---- moving aside ---- */

static int file_examine(struct pool_file *f, struct error *err)
{
	struct stat st;

	if (lstat(f->path, &st) < 0)
		return error_set(err, "cannot find %s: %s", f->path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_dev != f->dev || st.st_ino != f->ino)
		return error_set(err, "%s is no longer the file that the program mapped", f->path);
	if (st.st_nlink != 1)
		return error_set(err, "%s has several names", f->path);
	f->mode = st.st_mode & 07777;
	f->uid = st.st_uid;
	f->gid = st.st_gid;
	return 0;
}

static int file_move_aside(struct pool_file *f, struct error *err)
{
	char *aside = xasprintf("%s.pmend-%d", f->path, (int)getpid());

	if (access(aside, F_OK) == 0 || rename(f->path, aside) < 0) {
		error_set(err, "cannot move %s aside: %s", f->path,
			  access(aside, F_OK) == 0 ? "its other name is taken" : strerror(errno));
		free(aside);
		return -1;
	}
	f->aside = aside;
	return 0;
}

/* ---- writing the content before the run ---- */

static int file_make(struct pool_file *f, struct error *err)
{
	f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f->fd < 0 || ftruncate(f->fd, (off_t)f->size_bytes) < 0)
		return error_set(err, "cannot write %s: %s", f->path, strerror(errno));
	if (fchown(f->fd, f->uid, f->gid) < 0 && (geteuid() == 0 || f->uid != geteuid()))
		return error_set(err, "cannot restore the owner of %s: %s", f->path,
				 strerror(errno));
	if (fchmod(f->fd, f->mode) < 0)
		return error_set(err, "cannot restore the permissions of %s: %s", f->path,
				 strerror(errno));
	return 0;
}

static int content_write(struct restore *p, const struct trace_event *ev, struct error *err)
{
	struct pool_file *f = file_find(p, PMT_FILE(ev->addr));
	uint32_t done = 0;
	ssize_t n;

	if (!f || f->fd < 0)
		return 0;
	for (; done < ev->data_len; done += (uint32_t)n) {
		n = pwrite(f->fd, ev->data + done, ev->data_len - done,
			   (off_t)(PMT_OFFSET(ev->addr) + done));
		if (n <= 0)
			return error_set(err, "cannot write %s: %s", f->path, strerror(errno));
	}
	return 0;
}

static int contents_write(struct restore *p, const char *path, struct error *err)
{
	struct trace_event ev;
	struct trace *t;
	int result = 0;

	if (trace_open(&t, path, err) < 0)
		return -1;
	while (result == 0 && trace_next(t, &ev))
		if (ev.kind == PMT_CONTENT)
			result = content_write(p, &ev, err);
	trace_close(t);
	return result;
}

static int files_put_back(struct restore *p, const char *trace, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < p->files.n; i++)
		if (!p->files.at[i].is_gone && file_examine(&p->files.at[i], err) < 0)
			return -1;
	for (size_t i = 0; result == 0 && i < p->files.n; i++) {
		struct pool_file *f = &p->files.at[i];

		if (!f->is_gone)
			result = file_move_aside(f, err);
		if (result == 0 && !f->is_created)
			result = file_make(f, err);
	}
	if (result == 0)
		result = contents_write(p, trace, err);
	for (size_t i = 0; i < p->files.n; i++) {
		struct pool_file *f = &p->files.at[i];

		if (f->fd >= 0 && close(f->fd) < 0 && result == 0)
			result = error_set(err, "cannot write %s: %s", f->path, strerror(errno));
		f->fd = -1;
	}
	return result;
}

static struct restore *begin(const char *trace, bool skips_followed, struct error *err)
{
	struct restore *p = xcalloc(1, sizeof *p);
	struct error ignored;

	p->skips_followed = skips_followed;
	if (trace_read(p, trace, err) < 0) {
		putback_free(p);
		return NULL;
	}
	if (files_put_back(p, trace, err) < 0) {
		restore_end(p, false, &ignored);
		return NULL;
	}
	return p;
}

struct restore *restore_begin(const char *trace, struct error *err)
{
	return begin(trace, false, err);
}

struct restore *restore_begin_others(const char *trace, struct error *err)
{
	return begin(trace, true, err);
}

int restore_end(struct restore *p, bool is_repeated, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < p->files.n; i++) {
		const struct pool_file *f = &p->files.at[i];
		int failed = !f->aside     ? 0
			     : is_repeated ? unlink(f->aside)
					   : rename(f->aside, f->path);

		if (failed && result == 0)
			result = error_set(err, "the first run's %s is now called %s: %s", f->path,
					   f->aside, strerror(errno));
	}
	putback_free(p);
	return result;
}
