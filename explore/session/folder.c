/* The folder of an exploration, from which a later start continues:
 *
 *	corpus/000000 …     inputs, in the order of the runs
 *	paths/000000.pmp    the path that each run took (include/pmpath.h)
 *	state               text: what is explored, then lines (folder_line.h). A line is appended
 *	                    when everything it refers to is written:
 *		run PARENT STEP [KEY]	an input was run. It flips STEP of run PARENT; -1: a seed.
 *					KEY: the key by which it was claimed
 *		pm OFFSET OBJECT	in the run of the next "run" line, this instruction modified
 *					PM for the first time
 *	traces/000000.pmt   with --recover: recordings whose crashes were explored
 *	traces/000000-schedule-2.pmt
 *			    with --schedules: recordings that show something
 *	report.json         what was found so far
 *
 * Several explorations share a folder if all but one have a name. A named one has all of the above
 * in instances/NAME/, where no other writes, and also:
 *
 *	state
 *		take NAME N PARENT STEP	run N of exploration NAME (".": the one without a name)
 *					became known here; it gets the next number, as if it had
 *					run here
 *		no KEY			no input comes of the claim KEY
 *		unknown KEY		the same, because the solver ran out of time
 *		flooded			the run of the next "run" line was ended because it printed
 *					too much
 *	../../claims/KEY    empty; who creates it tries that flip or seed (sharing.c)
 *
 * An exploration that dies leaves at most half a line, which the next start cuts off. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/session/exploring.h"
#include "explore/session/folder_line.h"
#include "util/alloc.h"
#include "util/whole_file.h"

char *exploring_folder_input_file(const char *folder, uint64_t run)
{
	return xasprintf("%s/corpus/%06" PRIu64, folder, run);
}

char *exploring_input_file(const struct exploring *x, uint64_t run)
{
	return exploring_folder_input_file(x->out, run);
}

char *exploring_path_file(const char *folder, uint64_t run)
{
	return xasprintf("%s/paths/%06" PRIu64 ".pmp", folder, run);
}

char *exploring_trace_file(const struct exploring *x, uint64_t run, uint32_t schedule)
{
	return schedule ? xasprintf("%s/traces/%06" PRIu64 "-schedule-%" PRIu32 ".pmt", x->out, run,
				    schedule)
			: xasprintf("%s/traces/%06" PRIu64 ".pmt", x->out, run);
}

static int folder_make(const char *name, struct error *err)
{
	if (mkdir(name, 0777) < 0 && errno != EEXIST)
		return error_set(err, "cannot make the folder %s: %s", name, strerror(errno));
	return 0;
}

/* Makes the first line of `state`. It is equal only for the same program and kind of input. free()
 * it. */
char *exploring_head(const struct exploring *x)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; x->shown[i]; i++)
		for (const char *p = x->shown[i];; p++) {
			h = (h ^ (uint8_t)*p) * 0x100000001b3ULL;
			if (!*p)
				break;
		}
	for (size_t i = 0; i < x->parts.list.n; i++)
		h = (h ^ (uint64_t)x->parts.list.at[i].kind) * 0x100000001b3ULL ^
		    x->parts.list.at[i].len_bytes;
	return xasprintf("pmend explore state 2, %zu bytes, program and input %016" PRIx64 "\n",
			 x->parts.len_bytes, h);
}

static char *state_file(const char *folder)
{
	return xasprintf("%s/state", folder);
}

/* Appends the text completely or not at all, and only if nobody else has written. */
static int state_write(int fd, off_t size, const char *text, struct error *err)
{
	size_t n = strlen(text);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set(err, "%s", strerror(errno));
	if (st.st_size != size)
		return error_set(
			err,
			"another exploration writes to it; give each a name with --instance, or a folder with --out");
	errno = ENOSPC;
	if (write(fd, text, n) == (ssize_t)n)
		return 0;
	error_set(err, "%s", strerror(errno));
	if (ftruncate(fd, size) < 0) { /* the next start cuts it off */
	}
	return -1;
}

int exploring_state_add(struct exploring *x, const char *text, struct error *err)
{
	char *name = state_file(x->out);
	int fd = open(name, O_WRONLY | O_APPEND | O_CLOEXEC), result = -1;
	struct error why;

	if (fd < 0)
		error_set(&why, "%s", strerror(errno));
	else
		result = state_write(fd, x->state_bytes, text, &why);
	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = error_set(&why, "%s", strerror(errno));
	if (result < 0)
		error_set(err, "cannot write %s: %s", name, why.msg);
	else
		x->state_bytes += (off_t)strlen(text);
	free(name);
	return result;
}

bool exploring_input_read(const struct exploring *x, const char *folder, uint64_t run,
			  uint8_t *bytes)
{
	char *name = exploring_folder_input_file(folder, run);
	FILE *f = fopen(name, "rb");
	bool ok =
		f && fread(bytes, 1, x->parts.len_bytes, f) == x->parts.len_bytes && getc(f) == EOF;

	if (f)
		fclose(f);
	free(name);
	return ok;
}

/* ---- continuing ---- */

struct resuming {
	struct exploring *x;
	VEC(struct folder_line) pm; /* "pm" lines of the run that comes next */
	size_t nlost;
};

static uint32_t parent_number(int64_t parent)
{
	return parent < 0 ? EXPLORE_NO_RUN : (uint32_t)parent;
}

/* Marks the instructions of the collected "pm" lines as covered. Gives how many of them were not
 * covered before. */
static uint64_t pm_know(struct resuming *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->pm.n; i++) {
		n += explore_cover(r->x->explore, r->pm.at[i].object, r->pm.at[i].offset);
		r->x->has_pm = true;
	}
	r->pm.n = 0;
	return n;
}

static bool run_again(struct resuming *r, const struct folder_line *l)
{
	struct exploring *x = r->x;
	struct explore_input in = { .bytes = xmalloc(x->parts.len_bytes + 1),
				    .parent = parent_number(l->parent),
				    .step = (uint32_t)l->step };
	char *path_file = exploring_path_file(x->out, x->nruns);
	struct error err;
	bool ok = l->parent < (int64_t)explore_stats(x->explore).runs &&
		  exploring_input_read(x, x->out, x->nruns, in.bytes);

	if (ok) {
		exploring_found(x, explore_stats(x->explore).runs + 1,
				exploring_input_file(x, x->nruns), pm_know(r));
		explore_known(x->explore, &in);
		if (explore_done(x->explore, &in, path_file, &err) < 0)
			x->nbad++;
		if (l->key)
			explore_settle(x->explore, l->key);
		x->nruns++;
	}
	explore_input_release(&in);
	free(path_file);
	return ok;
}

static void take_again(struct resuming *r, const struct folder_line *l)
{
	struct exploring *x = r->x;
	struct explore_input in = { .bytes = xmalloc(x->parts.len_bytes + 1),
				    .parent = parent_number(l->parent),
				    .step = (uint32_t)l->step };
	char *folder = exploring_instance_folder(x, l->name),
	     *path_file = exploring_path_file(folder, l->number);
	struct error err;

	if (!exploring_input_read(x, folder, l->number, in.bytes) ||
	    explore_take(x->explore, &in, path_file, &err) < 0) {
		explore_skip(x->explore);
		r->nlost++;
	}
	x->ntaken++;
	explore_input_release(&in);
	free(path_file);
	free(folder);
}

/* Adopts a run whose files were written and that was judged, but that has no line in `state` yet,
 * because pmend was ended just then. */
static int run_adopt(struct resuming *r, struct error *err)
{
	const struct folder_line seed = { .kind = LINE_RUN, .parent = -1 };
	char *path_file = exploring_path_file(r->x->out, r->x->nruns);
	int result = 0;

	if (access(path_file, R_OK) == 0 && run_again(r, &seed))
		result = exploring_state_add(r->x, "run -1 0\n", err);
	free(path_file);
	return result;
}

static void report_resume(struct exploring *x)
{
	char *name = xasprintf("%s/report.json", x->out);
	struct error err;
	struct report *r = access(name, R_OK) == 0 ? report_read(name, &err) : NULL;

	if (r)
		report_add_run(x->report, r, NULL);
	report_free(r);
	free(name);
}

static int line_resume(struct resuming *r, const char *text, struct error *err)
{
	struct exploring *x = r->x;
	struct folder_line l = folder_line_parse(text);

	switch (l.kind) {
	case LINE_RUN:
		if (!run_again(r, &l))
			return error_set(err,
					 "%s is damaged: run %" PRIu64
					 " cannot be read; remove the folder to start again",
					 x->out, x->nruns);
		break;
	case LINE_TAKE: take_again(r, &l); break;
	case LINE_PM: *vec_add(&r->pm) = l; break;
	case LINE_NO:
	case LINE_UNKNOWN:
		explore_settle(x->explore, l.key);
		x->nunknown += l.kind == LINE_UNKNOWN;
		break;
	case LINE_FLOODED: x->nflooded++; break;
	case LINE_OTHER: break;
	}
	return 0;
}

static int lines_resume(struct resuming *r, char *text, struct error *err)
{
	char *line = strchr(text, '\n') + 1, *end;
	int result = 0;

	for (; result == 0 && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		result = line_resume(r, line, err);
	}
	if (result == 0)
		result = run_adopt(r, err);
	if (result == 0)
		report_resume(r->x);
	if (r->nlost)
		notes_say(
			r->x->notes,
			"%zu inputs of other explorations are missing from %s or damaged; they are tried again",
			r->nlost, r->x->shared);
	return result;
}

char *exploring_text_read(const char *name, off_t from)
{
	char *text = NULL, buf[4096];
	size_t len = 0, n;
	FILE *in = NULL, *out;
	struct stat st;

	/* another program may have made it: it could be a pipe that blocks, or a device without
	 * end */
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
		in = fopen(name, "rb");
	if (!in)
		return NULL;
	out = open_memstream(&text, &len);
	if (!out)
		alloc_die();
	if (fseeko(in, from, SEEK_SET) == 0)
		while ((n = fread(buf, 1, sizeof buf, in)) > 0)
			fwrite(buf, 1, n, out);
	fclose(in);
	if (fclose(out) != 0)
		alloc_die();
	return text;
}

/* Reads the lines of an earlier start, after checking the first. */
static int resume_state(struct exploring *x, const char *file, char *text, struct error *err)
{
	struct resuming r = { .x = x };
	char *head = exploring_head(x), *last = strrchr(text, '\n');
	struct stat st;
	int result;

	x->state_bytes = last + 1 - text;
	if (strncmp(text, head, strlen(head)) != 0)
		result = error_set(
			err,
			"%s holds another exploration; choose another folder with --out, or remove it",
			x->out);
	else if (stat(file, &st) == 0 && st.st_size > x->state_bytes &&
		 truncate(file, x->state_bytes) < 0) /* half a line */
		result = error_set(err, "cannot write %s: %s", file, strerror(errno));
	else
		result = lines_resume(&r, text, err);
	vec_release(&r.pm);
	free(head);
	return result;
}

static int folders_make(const struct exploring *x, const char *name, struct error *err)
{
	static const char *const parts[] = { "corpus", "paths", "traces" };
	const size_t n = x->wants_crashes || x->nschedules ? 3 : 2; /* are there traces? */
	int result = folder_make(name, err);

	for (size_t i = 0; result == 0 && i < n; i++) {
		char *part = xasprintf("%s/%s", name, parts[i]);

		result = folder_make(part, err);
		free(part);
	}
	return result;
}

static int begin_state(struct exploring *x, const char *file, struct error *err)
{
	char *head = exploring_head(x);
	struct whole_file f;
	int result;

	whole_file_begin(&f, file);
	fputs(head, f.out);
	result = whole_file_end(&f, err);
	x->state_bytes = (off_t)strlen(head);
	free(head);
	return result;
}

char *exploring_instance_folder(const struct exploring *x, const char *name)
{
	return strcmp(name, ".") == 0 ? xstrdup(x->shared)
				      : xasprintf("%s/instances/%s", x->shared, name);
}

/* Sets x->shared, the given folder, and x->out, where this exploration writes. */
static int folders_open(struct exploring *x, const char *name, struct error *err)
{
	char *all;
	int result = 0;

	if (folder_make(name, err) < 0)
		return -1;
	x->shared = realpath(name, NULL);
	if (!x->shared)
		return error_set(err, "cannot find %s: %s", name, strerror(errno));
	x->out = exploring_instance_folder(x, x->instance ? x->instance : ".");
	if (x->instance) {
		all = xasprintf("%s/instances", x->shared);
		result = folder_make(all, err);
		free(all);
	}
	return result < 0 ? -1 : folders_make(x, x->out, err);
}

int exploring_open(struct exploring *x, const char *name, struct error *err)
{
	char *file, *text;
	int result;

	if (folders_open(x, name, err) < 0)
		return -1;
	file = state_file(x->out);
	text = exploring_text_read(file, 0);
	result = text && strchr(text, '\n') ? resume_state(x, file, text, err)
					    : begin_state(x, file, err);
	free(text);
	free(file);
	return result;
}

int exploring_note_pm(struct exploring *x, const char *object, uint64_t offset, struct error *err)
{
	char *line;
	int result;

	if (!explore_cover(x->explore, object, offset))
		return 0;
	x->new_pm++;
	line = xasprintf("pm %" PRIu64 " %s\n", offset, object);
	result = exploring_state_add(x, line, err);
	free(line);
	return result < 0 ? -1 : 1;
}

int exploring_input_save(const struct exploring *x, const struct explore_input *in,
			 struct error *err)
{
	char *name = exploring_input_file(x, x->nruns);
	FILE *f = fopen(name, "wb");
	int result = 0;

	if (!f || fwrite(in->bytes, 1, x->parts.len_bytes, f) != x->parts.len_bytes)
		result = error_set(err, "cannot write %s: %s", name, strerror(errno));
	if (f && fclose(f) != 0 && result == 0)
		result = error_set(err, "cannot write %s: %s", name, strerror(errno));
	free(name);
	return result;
}

int exploring_save(struct exploring *x, const struct explore_input *in, struct error *err)
{
	int64_t parent = in->parent == EXPLORE_NO_RUN ? -1 : (int64_t)in->parent;
	char *line = in->key ? xasprintf("run %" PRId64 " %" PRIu32 " %016" PRIx64 "\n", parent,
					 in->step, in->key)
			     : xasprintf("run %" PRId64 " %" PRIu32 "\n", parent, in->step);
	int result = exploring_state_add(x, line, err);

	free(line);
	return result;
}
