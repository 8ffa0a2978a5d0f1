/* Explorations that share a folder: each takes over the runs of the others, and none tries what
 * another tries. All goes through files (folder.c lists them): each exploration reads new lines of
 * the others' `state`, and claims a branch or seed by creating the empty file claims/KEY, which
 * only one can do.
 *
 * A claim is no lock. Claimed branches come last; when nothing else is left and no other
 * exploration has written anything for some time, they are tried anyway. So the claims of one that
 * died cost a moment, and at worst an input runs twice. Clocks of different machines are never
 * compared. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "explore/session/exploring.h"
#include "explore/session/folder_line.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/clock.h"

#define SYNC_S 0.2
#define FLUSH_S 0.5
/* an input runs twice, recorded and traced, and other machines may be slower */
#define PATIENCE_RUNS 4
#define PATIENCE_S 1.0

struct pm { /* from a "pm" line whose run has not come yet */
	uint64_t offset;
	char *object;
};

struct other {
	char *name, *folder; /* name is "." for the exploration without a name */
	off_t read_bytes;    /* how much of its state was read; 0: not even the first line */
	bool is_left_out;    /* not an exploration, of another program, or damaged from there on */
	bool is_noted;       /* the user was told that some of its files are damaged */
	VEC(uint32_t) runs;  /* its run numbers → run numbers here, or EXPLORE_NO_RUN */
	uint64_t nruns;      /* runs of its own */
	uint64_t nread;      /* how many of these could be read */
	VEC(struct pm) pm;   /* of the run that comes next */
	size_t nflooded;     /* of the run that comes next */
	struct stat report;  /* when its report was last read */
	size_t nbugs;
};

struct sharing {
	struct exploring *x;
	VEC(struct other *) others;
	struct map mine; /* keys claimed by this process */
	bool is_on, is_begun;
	bool has_bugs;   /* others found bugs since this exploration began */
	VEC(char) lines; /* lines of our state that are still to be written */
	struct error failure;
	bool has_failed;
	double synced_s, flushed_s, news_s, idle_s, waited_s;
	uint64_t nstarted; /* value of nstarted when it became idle */
	bool is_alone;     /* it waited in vain and has read nothing new since */
};

struct sharing *sharing_new(struct exploring *x)
{
	struct sharing *s = xcalloc(1, sizeof *s);

	s->x = x;
	return s;
}

static void pm_clear(struct other *o)
{
	for (size_t i = 0; i < o->pm.n; i++)
		free(o->pm.at[i].object);
	o->pm.n = 0;
	o->nflooded = 0;
}

void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->others.n; i++) {
		struct other *o = s->others.at[i];

		pm_clear(o);
		vec_release(&o->pm);
		vec_release(&o->runs);
		free(o->name);
		free(o->folder);
		free(o);
	}
	vec_release(&s->others);
	vec_release(&s->lines);
	map_release(&s->mine);
	free(s);
}

/* ---- what this exploration writes ---- */

static void note_failure(struct sharing *s, const char *what, const char *name)
{
	if (!s->has_failed)
		error_set(&s->failure, "cannot %s %s: %s", what, name, strerror(errno));
	s->has_failed = true;
}

static void add_line(struct sharing *s, char *line)
{
	for (const char *p = line; *p; p++)
		*vec_add(&s->lines) = *p;
	free(line);
}

static void write_lines(struct sharing *s)
{
	s->flushed_s = clock_s();
	if (!s->lines.n)
		return;
	*vec_add(&s->lines) = '\0';
	if (exploring_state_add(s->x, s->lines.at, &s->failure) < 0)
		s->has_failed = true;
	s->lines.n = 0;
}

static char *claim_file(const struct sharing *s, uint64_t key)
{
	return xasprintf("%s/claims/%016" PRIx64, s->x->shared, key);
}

static bool claim(uint64_t key, void *arg)
{
	struct sharing *s = arg;
	char *name;
	int fd;

	if (map_get(&s->mine, key))
		return true;
	name = claim_file(s, key);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0) {
		map_set(&s->mine, key, s);
		close(fd);
	} else if (errno != EEXIST) {
		note_failure(s, "write", name);
	}
	free(name);
	return fd >= 0;
}

static void on_failed(uint64_t key, bool is_unknown, void *arg)
{
	struct sharing *s = arg;

	add_line(s, xasprintf("%s %016" PRIx64 "\n", is_unknown ? "unknown" : "no", key));
	if (clock_s() > s->flushed_s + FLUSH_S)
		write_lines(s);
}

void sharing_give_back(struct sharing *s, uint64_t key)
{
	char *name;

	if (!s || !key || !map_get(&s->mine, key))
		return;
	name = claim_file(s, key);
	unlink(name);
	free(name);
}

static void turn_on(struct sharing *s)
{
	char *claims = xasprintf("%s/claims", s->x->shared);

	if (mkdir(claims, 0777) < 0 && errno != EEXIST)
		note_failure(s, "make the folder", claims);
	explore_share(s->x->explore, &(struct explore_sharing){ claim, on_failed, s });
	s->is_on = true;
	free(claims);
}

/* ---- finding other explorations ---- */

static struct other *other_add(struct sharing *s, const char *name, bool is_left_out)
{
	struct other *o = xcalloc(1, sizeof *o);

	o->name = xstrdup(name);
	o->folder = exploring_instance_folder(s->x, name);
	o->is_left_out = is_left_out;
	*vec_add(&s->others) = o;
	return o;
}

static bool is_known(const struct sharing *s, const char *name)
{
	for (size_t i = 0; i < s->others.n; i++)
		if (strcmp(s->others.at[i]->name, name) == 0)
			return true;
	return false;
}

static int is_entry(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

/* Asks whether the other exploration has a file `state`. One that is about to begin has none. */
static bool has_state(const struct sharing *s, const char *name)
{
	char *folder = exploring_instance_folder(s->x, name), *file = xasprintf("%s/state", folder);
	bool has = access(file, F_OK) == 0;

	free(file);
	free(folder);
	return has;
}

static void entry_look(struct sharing *s, const char *folder, const char *name)
{
	char *path;
	struct stat st;

	if (is_known(s, name) || (s->x->instance && strcmp(name, s->x->instance) == 0))
		return;
	path = xasprintf("%s/%s", folder, name);
	if (!instance_name_is_valid(name) || (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))) {
		notes_say(s->x->notes, "%s is not a folder of an exploration; it is ignored", path);
		other_add(s, name, true);
	} else if (has_state(s, name)) {
		other_add(s, name, false);
	}
	free(path);
}

static void others_look(struct sharing *s)
{
	char *folder = xasprintf("%s/instances", s->x->shared);
	struct dirent **list;
	int n = scandir(folder, &list, is_entry, alphasort);

	if (n >= 0 && !s->is_on)
		turn_on(s);
	if (s->x->instance && !is_known(s, ".") && has_state(s, "."))
		other_add(s, ".", false);
	for (int i = 0; i < n; i++) {
		entry_look(s, folder, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	free(folder);
}

/* ---- reading what others write ---- */

static void leave_out(struct sharing *s, struct other *o, const char *why)
{
	notes_say(s->x->notes, "%s/state %s", o->folder, why);
	o->is_left_out = true;
}

static uint32_t number_here(const struct other *o, int64_t number)
{
	return number >= 0 && (uint64_t)number < o->runs.n ? o->runs.at[number] : EXPLORE_NO_RUN;
}

/* Adds an input from the folder of another exploration. EXPLORE_NO_RUN if the input cannot be
 * read. */
static uint32_t input_take(struct sharing *s, struct other *o, const struct folder_line *l,
			   uint64_t number)
{
	struct exploring *x = s->x;
	struct explore_input in = { .bytes = xmalloc(x->parts.len_bytes + 1),
				    .parent = number_here(o, l->parent),
				    .step = (uint32_t)l->step };
	char *path_file = exploring_path_file(o->folder, number);
	uint32_t run = EXPLORE_NO_RUN;
	struct error why;

	bool has_input = exploring_input_read(x, o->folder, number, in.bytes);

	error_set(&why, "its input is missing, or has another length");
	if (has_input)
		run = explore_find(x->explore, in.bytes);
	if (has_input && run == EXPLORE_NO_RUN &&
	    explore_take(x->explore, &in, path_file, &why) == 0) {
		run = (uint32_t)explore_stats(x->explore).runs - 1;
		x->ntaken++;
		add_line(s,
			 xasprintf("take %s %" PRIu64 " %" PRId64 " %" PRIu32 "\n", o->name, number,
				   in.parent == EXPLORE_NO_RUN ? (int64_t)-1 : (int64_t)in.parent,
				   in.step));
	}
	if (run == EXPLORE_NO_RUN && !o->is_noted) {
		notes_say(x->notes,
			  "run %" PRIu64
			  " of %s is damaged (%s); it is ignored, and so are others like it",
			  number, o->folder, why.msg);
		o->is_noted = true;
	}
	explore_input_release(&in);
	free(path_file);
	return run;
}

/* Takes over a run of another exploration, which has judged it and reported its bugs. */
static void run_take(struct sharing *s, struct other *o, const struct folder_line *l)
{
	uint64_t new_pm = 0;
	uint32_t run;

	for (size_t i = 0; i < o->pm.n; i++) {
		new_pm += explore_cover(s->x->explore, o->pm.at[i].object, o->pm.at[i].offset);
		s->x->has_pm = true;
	}
	s->x->nflooded += o->nflooded;
	pm_clear(o);
	run = input_take(s, o, l, o->nruns++);
	*vec_add(&o->runs) = run;
	o->nread += run != EXPLORE_NO_RUN;
	if (run != EXPLORE_NO_RUN)
		exploring_found(s->x, (uint64_t)run + 1,
				exploring_folder_input_file(o->folder, o->nruns - 1), new_pm);
	if (run != EXPLORE_NO_RUN && l->key)
		explore_settle(s->x->explore, l->key);
}

/* Finds the run that another exploration took over from a third, or from us. */
static uint32_t taken_find(const struct sharing *s, const struct folder_line *l)
{
	uint8_t *bytes = xmalloc(s->x->parts.len_bytes + 1);
	char *folder = exploring_instance_folder(s->x, l->name);
	uint32_t run = exploring_input_read(s->x, folder, l->number, bytes)
			       ? explore_find(s->x->explore, bytes)
			       : EXPLORE_NO_RUN;

	free(folder);
	free(bytes);
	return run;
}

static void line_take(struct sharing *s, struct other *o, const char *text)
{
	struct folder_line l = folder_line_parse(text);

	switch (l.kind) {
	case LINE_RUN: run_take(s, o, &l); break;
	case LINE_TAKE: *vec_add(&o->runs) = taken_find(s, &l); break;
	case LINE_PM: *vec_add(&o->pm) = (struct pm){ l.offset, xstrdup(l.object) }; break;
	case LINE_NO:
	case LINE_UNKNOWN:
		explore_settle(s->x->explore, l.key);
		s->x->nunknown += l.kind == LINE_UNKNOWN;
		break;
	case LINE_FLOODED: o->nflooded++; break;
	case LINE_OTHER: leave_out(s, o, "has an invalid line; the rest is ignored"); break;
	}
}

static bool head_check(struct sharing *s, struct other *o, const char *line)
{
	char *head = exploring_head(s->x);
	size_t n = strlen(head) - 1; /* without the newline */

	if (strlen(line) != n || strncmp(line, head, n) != 0)
		leave_out(
			s, o,
			"belongs to another program or kind of input; that exploration is ignored");
	free(head);
	return !o->is_left_out;
}

/* Reads the new lines of another exploration's `state`. True: there were new lines. */
static bool other_read(struct sharing *s, struct other *o)
{
	char *file = xasprintf("%s/state", o->folder), *text, *line, *end;
	struct stat st;
	bool is_new = false;

	/* it was removed and begun again */
	if (stat(file, &st) == 0 && st.st_size < o->read_bytes) {
		o->read_bytes = 0;
		o->runs.n = 0;
		o->nruns = o->nread = 0;
		pm_clear(o);
	}
	text = stat(file, &st) == 0 && st.st_size > o->read_bytes
		       ? exploring_text_read(file, o->read_bytes)
		       : NULL;
	for (line = text; !o->is_left_out && line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (o->read_bytes == 0 ? head_check(s, o, line) : true) {
			if (o->read_bytes)
				line_take(s, o, line);
			o->read_bytes += end + 1 - line;
			is_new = true;
		}
	}
	free(text);
	free(file);
	return is_new;
}

/* ---- what others found ---- */

static struct report *report_open(const struct sharing *s, struct other *o)
{
	char *name = xasprintf("%s/report.json", o->folder);
	struct report *r = NULL;
	struct error why;

	if (access(name, F_OK) == 0) {
		r = report_read(name, &why);
		if (!r)
			notes_say(s->x->notes, "%s; its findings are ignored", why.msg);
	}
	free(name);
	return r;
}

/* Looks whether the other exploration's report has changed. A report is replaced as a whole, so a
 * changed report is another file. */
static void bugs_look(struct sharing *s, struct other *o)
{
	char *name = xasprintf("%s/report.json", o->folder);
	struct report *r;
	struct stat st;
	size_t n;

	if (stat(name, &st) == 0 &&
	    (st.st_ino != o->report.st_ino || st.st_size != o->report.st_size ||
	     st.st_mtim.tv_sec != o->report.st_mtim.tv_sec ||
	     st.st_mtim.tv_nsec != o->report.st_mtim.tv_nsec)) {
		o->report = st;
		r = report_open(s, o);
		n = r ? report_count(r, BUG_CORRECTNESS) : 0;
		report_free(r);
		s->has_bugs |= s->is_begun && n > o->nbugs;
		o->nbugs = n;
	}
	free(name);
}

bool sharing_has_bugs(const struct sharing *s)
{
	return s->has_bugs;
}

void sharing_add_reports(struct sharing *s, struct report *all)
{
	for (size_t i = 0; i < s->others.n; i++) {
		struct report *r =
			s->others.at[i]->is_left_out ? NULL : report_open(s, s->others.at[i]);

		if (r)
			report_add_run(all, r, NULL);
		report_free(r);
	}
}

size_t sharing_nothers(const struct sharing *s)
{
	size_t n = 0;

	for (size_t i = 0; s && i < s->others.n; i++)
		n += s->others.at[i]->nread > 0;
	return n;
}

uint64_t sharing_nruns(const struct sharing *s)
{
	uint64_t n = 0;

	for (size_t i = 0; s && i < s->others.n; i++)
		n += s->others.at[i]->nread;
	return n;
}

/* ---- called from time to time ---- */

int sharing_sync(struct sharing *s, bool is_now, struct error *err)
{
	double now = clock_s();
	bool is_new = false;

	if (!is_now && now < s->synced_s + SYNC_S && !s->has_failed)
		return 0;
	s->synced_s = now;
	others_look(s);
	for (size_t i = 0; i < s->others.n; i++)
		if (!s->others.at[i]->is_left_out) {
			bugs_look(s, s->others.at[i]);
			is_new |= other_read(s, s->others.at[i]);
		}
	s->is_begun = true;
	write_lines(s);
	explore_nput_off(s->x->explore);
	if (is_new) {
		s->news_s = now;
		s->is_alone = false;
	}
	if (s->has_failed) {
		*err = s->failure;
		return -1;
	}
	return is_new;
}

int sharing_wait(struct sharing *s, struct error *err)
{
	struct exploring *x = s->x;
	double now = clock_s(), patience_s = PATIENCE_S + PATIENCE_RUNS * x->longest_ms / 1e3;
	int is_new;

	if (!s->is_on)
		return 0;
	if (s->nstarted != x->nstarted) {
		s->nstarted = x->nstarted;
		s->idle_s = now;
	}
	if (!s->has_failed && now < s->waited_s + SYNC_S)
		return 1;
	s->waited_s = now;
	is_new = sharing_sync(s, true, err);
	if (is_new != 0)
		return is_new;
	if (explore_stats(x->explore).waiting == 0)
		return 0;
	s->is_alone |= now > s->idle_s + patience_s && now > s->news_s + patience_s;
	if (s->is_alone)
		explore_claim_all(x->explore);
	return 1;
}
