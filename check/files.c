/* Judges programs that write, sync and rename files by calls (--files), by the weakest promises of
 * a file system: rename-before-fsync, missing-fsync, unlink-before-durable, missing-dir-fsync,
 * redundant-fsync. A fault that a later call can repair is kept until the end, or until that
 * call. */
#include "model/files.h"

#include <stdlib.h>

#include "check/oracle.h"
#include "util/alloc.h"
#include "util/vec.h"

static const char KIND_RENAME[] = "rename-before-fsync", KIND_FSYNC[] = "missing-fsync",
		  KIND_UNLINK[] = "unlink-before-durable", KIND_FOLDER[] = "missing-dir-fsync",
		  KIND_REDUNDANT[] = "redundant-fsync";

/* A file was removed while another file, which the same process wrote, was not durable. It is a bug
 * if somebody syncs the other file later: then the program wanted it to be durable. */
struct removal {
	uint32_t other; /* the file that was not durable */
	struct finding finding;
};

#define ALL_PROFILES ((1u << FILES_PROFILES) - 1)
#define ONLY_WEAKEST (1u << FILES_WEAKEST)

struct state {
	struct files *model;
	VEC(struct removal) removals;
	/* by file: everything before this event was reported at a rename */
	VEC(uint64_t) renamed;
	VEC(uint32_t) created;   /* by file: 1 if the program made it */
	VEC(struct finding) end; /* findings of one file at the end, one per place */
};

static void *files_begin(void)
{
	struct state *s = xcalloc(1, sizeof *s);

	s->model = files_new(false);
	return s;
}

static void files_end(void *arg)
{
	struct state *s = arg;

	files_free(s->model);
	vec_release(&s->removals);
	vec_release(&s->renamed);
	vec_release(&s->created);
	vec_release(&s->end);
	free(s);
}

static uint64_t renamed_before(const struct state *s, uint32_t file)
{
	return file < s->renamed.n ? s->renamed.at[file] : 0;
}

static struct finding finding_of(const char *kind, const char *message, const char *role,
				 const struct trace_site *site, uint64_t seq, uint64_t addr)
{
	return (struct finding){ .kind = kind,
				 .message = message,
				 .profiles = ALL_PROFILES,
				 .places = { { role, site } },
				 .nplaces = 1,
				 .first_seq = seq,
				 .addr = addr };
}

static void add_place(struct finding *f, const char *role, const struct trace_site *site)
{
	f->places[f->nplaces++] = (struct finding_place){ role, site };
}

/* ---- names ---- */

/* Handles a file that gets a name, and reports it if the file's content is not durable.
 * is_replacing: another file had that name. */
static void named(struct state *s, struct check *c, const struct trace_event *ev, bool is_replacing)
{
	const uint32_t file = (uint32_t)ev->arg[0];
	struct files_change change;
	struct finding f;

	if (!files_is_regular(s->model, file) || !files_unsynced(s->model, file, &change))
		return;
	f = finding_of(
		KIND_RENAME,
		is_replacing
			? "this file replaces another one, but what was written to it is not durable: after a crash the name may lead to an empty or partly written file, and the old one is lost"
			: "this file gets its name, but what was written to it is not durable: after a crash the name may lead to an empty or partly written file",
		"rename", ev->site, ev->seq, change.addr);
	add_place(&f, "write", change.site);
	if (!is_replacing)
		f.reason =
			"no other file had this name: that is no harm if recovery can tell that the file is not whole";
	check_report(c, &f);
	if (!is_replacing)
		return;
	while (s->renamed.n <= file)
		*vec_add(&s->renamed) = 0;
	s->renamed.at[file] = change.seq;
}

/* Notes that a file loses its last name, if a crash should have kept the file: somebody synced it,
 * or it was there from the beginning. */
static void removed(struct state *s, const struct trace_event *ev, uint32_t file, const char *role)
{
	struct files_change change;

	if (!files_is_regular(s->model, file) || files_nnames(s->model, file) > 1 ||
	    files_size(s->model, file) == 0 ||
	    (!files_last_sync(s->model, file) && file < s->created.n && s->created.at[file]))
		return;
	for (uint32_t other = 1; other < s->created.n; other++) {
		struct removal *r;

		if (other == file || (ev->kind == PMT_MOVE && other == ev->arg[0]) ||
		    !files_is_regular(s->model, other) || files_nnames(s->model, other) == 0 ||
		    !files_unsynced(s->model, other, &change) || change.stream != ev->stream)
			continue;
		r = vec_add(&s->removals);
		r->other = other;
		r->finding = finding_of(
			KIND_UNLINK,
			"this file is removed before what was written to another one is durable: a crash can lose both",
			role, ev->site, ev->seq, change.addr);
		add_place(&r->finding, "write", change.site);
		/* names and truncated sizes are durable in order there */
		if (change.site && change.site->kind == PMT_SIZE)
			r->finding.profiles = ONLY_WEAKEST;
	}
}

/* ---- syncs ---- */

/* Reports the removals that should have waited for this sync of a file. */
static void synced(struct state *s, struct check *c, const struct trace_event *ev)
{
	size_t n = 0;

	for (size_t i = 0; i < s->removals.n; i++) {
		struct removal *r = &s->removals.at[i];

		if (ev->arg[0] != 0 && r->other != ev->arg[0]) {
			s->removals.at[n++] = *r;
			continue;
		}
		add_place(&r->finding, "fsync", ev->site);
		check_report(c, &r->finding);
	}
	s->removals.n = n;
}

static void fsync_step(struct state *s, struct check *c, const struct trace_event *ev)
{
	const uint32_t file = (uint32_t)ev->arg[0];
	const struct files_change *last = file ? files_last_sync(s->model, file) : NULL;
	struct finding f;

	synced(s, c, ev);
	if (!last || files_changed_since(s->model, file))
		return;
	f = finding_of(
		KIND_REDUNDANT,
		"nothing has changed since this was synced last: there is nothing to write back",
		"fsync", ev->site, ev->seq, PMT_ADDR(file, 0));
	if (last->site != ev->site)
		add_place(&f, "fsync", last->site);
	check_report(c, &f);
}

static void file_step(struct state *s, const struct trace_event *ev)
{
	if (ev->arg[0] >> (64 - PMT_OFFSET_BITS))
		return;
	while (s->created.n <= ev->arg[0])
		*vec_add(&s->created) = 0;
	s->created.at[ev->arg[0]] = ev->arg[2] & PMT_FILE_CREATED;
}

static void files_oracle_step(void *arg, struct check *c, const struct trace_event *ev)
{
	struct state *s = arg;
	const bool is_exchange = ev->kind == PMT_MOVE && (ev->arg[3] & 2);

	if (ev->kind == PMT_FILE)
		file_step(s, ev);
	else if (ev->kind == PMT_MOVE && !is_exchange && ev->arg[4])
		removed(s, ev, (uint32_t)ev->arg[4], "rename");
	else if (ev->kind == PMT_UNNAME)
		removed(s, ev, (uint32_t)ev->arg[0], "unlink");
	if (ev->kind == PMT_MOVE)
		named(s, c, ev, ev->arg[4] != 0);
	else if (ev->kind == PMT_NAME && ev->arg[2] == PMT_NAMED_LINKED)
		named(s, c, ev, false);
	else if (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC)
		fsync_step(s, c, ev);
	files_step(s->model, ev);
}

/* ---- at the end ---- */

struct ending {
	struct state *s;
	struct check *c;
	uint32_t file;
};

static void excuse(struct ending *e, struct finding *f, const struct files_change *change)
{
	if (!check_is_cut(e->c, change->stream, change->thread, change->seq))
		return;
	f->is_cut = true;
	f->message = "not synced when the recording ended";
}

/* Do both sites belong to one call? A call that changes the size and stores has several sites. */
static bool is_same_call(const struct trace_site *a, const struct trace_site *b)
{
	return a == b || (a && b && a->pc == b->pc && a->node == b->node);
}

/* Is a truncation durable on all profiles with a journal? */
static bool is_durable_elsewhere(const struct state *s, const struct files_change *change)
{
	return change->site && change->site->kind == PMT_SIZE &&
	       files_is_journaled(s->model, FILES_EXT4, change->seq);
}

static void unsynced(const struct files_change *change, void *arg)
{
	struct ending *e = arg;
	struct finding f = finding_of(
		KIND_FSYNC,
		files_last_sync(e->s->model, e->file)
			? "this is written, but the file is not synced after it: a crash can lose it at any time later"
			: "this is written, but the file is never synced: a crash can lose it at any time later",
		"write", change->site, change->seq, change->addr);

	if (change->seq <= renamed_before(e->s, e->file) || check_is_ignored(e->c, change->addr, 1))
		return;
	for (size_t i = 0; i < e->s->end.n; i++)
		if (is_same_call(e->s->end.at[i].places[0].site, change->site)) {
			if (change->seq < e->s->end.at[i].first_seq)
				e->s->end.at[i].first_seq = change->seq;
			return;
		}
	excuse(e, &f, change);
	if (is_durable_elsewhere(e->s, change))
		f.profiles = ONLY_WEAKEST;
	*vec_add(&e->s->end) = f;
}

static bool is_cared_for(const struct state *s, uint32_t file)
{
	return files_last_sync(s->model, file) != NULL;
}

static void unsynced_name(const struct files_name *n, void *arg)
{
	struct ending *e = arg;
	const struct files *m = e->s->model;
	const bool is_gone = n->file == 0;
	struct finding f;

	/* who syncs a file wants it to exist after a crash; who syncs a log and removes it wants it
	 * to be gone */
	if (!is_cared_for(e->s, is_gone ? n->before : n->file) ||
	    (is_gone && (n->change.site == NULL || n->change.site->kind == PMT_MOVE)))
		return;
	if (!is_gone && files_is_regular(m, n->file) && n->before == n->file)
		return;
	f = finding_of(
		KIND_FOLDER,
		is_gone ? "the file is removed, but its folder is not synced after that: after a crash it may be there again"
			: "the file is synced, but the folder is not since it got this name: after a crash the name may be missing, or lead to what it led to before",
		is_gone ? "unlink" : "name", n->change.site, n->change.seq, n->change.addr);
	excuse(e, &f, &n->change);
	if (files_is_journaled(m, FILES_EXT4, n->change.seq))
		f.profiles = ONLY_WEAKEST;
	check_report(e->c, &f);
}

static void files_oracle_finish(void *arg, struct check *c)
{
	struct state *s = arg;
	struct ending e = { s, c, 0 };

	for (uint32_t file = 1; file < s->created.n; file++) {
		if (!files_is_regular(s->model, file) || files_nnames(s->model, file) == 0)
			continue;
		e.file = file;
		s->end.n = 0;
		files_each_unsynced(s->model, file, unsynced, &e);
		for (size_t i = 0; i < s->end.n; i++)
			check_report(c, &s->end.at[i]);
	}
	files_each_name(s->model, unsynced_name, &e);
}

static bool files_is_asleep(const void *state, const struct check *c)
{
	(void)state;
	return !check_follows_files(c);
}

const struct oracle oracle_files = {
	.name = "files",
	.help = "what is written to files of --files, and renamed or removed, before it is synced",
	.is_for_files = true,
	.classes = EVENT_STORE,
	.is_asleep = files_is_asleep,
	.begin = files_begin,
	.step = files_oracle_step,
	.finish = files_oracle_finish,
	.end = files_end,
};
