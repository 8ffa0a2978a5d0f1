/* Explores the crashes of a program whose files were followed. First, recovery must cope with the
 * folder at the end, where nothing is lost. Then the dumps at the ends of operations are taken,
 * with nothing lost. Then one failure point after the other is searched, and its dumps are compared
 * with those. */
#include "crash/files/files_explore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/files/internal.h"
#include "crash/missing.h"
#include "crash/part.h"

#define TIMEOUT_MIN_MS 2000u
#define TIMEOUT_FACTOR 10u
/* a part is saved after each of its first failure points, and then so often */
#define SAVE_FIRST 32u
#define SAVE_NS 5000000000u

static int explorer_begin(struct file_explorer *e, const struct plan *p,
			  const struct crash_options *o, struct crash_result *r, struct error *err)
{
	struct runner_options with_cancel = o->runner;

	*e = (struct file_explorer){ .plan = p, .options = o, .result = r };
	with_cancel.wants_cancel = o->is_interrupted;
	with_cancel.cancel_arg = o->arg;
	e->refs.deadline_ns = o->limits.deadline_ns;
	e->refs.texts = &r->texts;
	if (file_roots_find(&e->roots, p, err) < 0)
		return -1;
	e->runner = runner_new(&with_cancel, p->mappings.at, p->mappings.n, err);
	if (!e->runner)
		return -1;
	e->followed = followed_of(p->trace);
	for (size_t i = 0; o->allowed && i < o->allowed->hashes.n; i++)
		*vec_add(&e->allowed.hashes) = o->allowed->hashes.at[i];
	return 0;
}

static void explorer_end(struct file_explorer *e)
{
	if (e->has_layout)
		layout_release(&e->layout);
	runner_free(e->runner);
	file_roots_release(&e->roots);
	share_release(&e->share);
	references_release(&e->refs);
	vec_release(&e->followed);
	vec_release(&e->items);
	file_memory_release(e);
	vec_release(&e->memory);
	allowed_release(&e->allowed);
	vec_release(&e->known);
}

/* ---- where nothing is lost ---- */

static int run_whole(struct file_explorer *e, struct verdict *v, uint64_t *time_us,
		     struct error *err)
{
	const uint64_t start_ns = clock_ns();
	int result;

	file_point_begin(e);
	file_choose_newest(e);
	result = file_run_state(e, NULL, v, err);
	if ((clock_ns() - start_ns) / 1000 > *time_us)
		*time_us = (clock_ns() - start_ns) / 1000;
	if (result == 0 && v->why_unsound)
		result = error_set(err, "recovery cannot be run on crash states: %s",
				   v->why_unsound);
	return result;
}

static bool is_empty_refused(const struct file_explorer *e, const struct verdict *v)
{
	return v->kind == VERDICT_STATUS && e->layout.nregular == 0;
}

static int tell_failure(const struct verdict *v, const char *where, struct error *err)
{
	char *text = verdict_text(v), *said = verdict_said(v);

	error_set(
		err,
		"recovery fails %s, where nothing is lost: %s%s. The checker (%s) fails even when nothing is lost. Fix it first; no crash state was explored",
		where, text, said, v->command ? v->command->shown : "?");
	free(text);
	free(said);
	return -1;
}

/* Runs recovery on the state at the present moment of the walk, with nothing lost, and fills *out
 * with its dump. *refuses: recovery does not accept a folder without files. */
static int take_reference(struct file_explorer *e, const char *where, bool *refuses,
			  struct reference *out, uint64_t *time_us, struct error *err)
{
	struct verdict v;

	*refuses = false;
	if (run_whole(e, &v, time_us, err) < 0)
		return -1;
	*refuses = is_empty_refused(e, &v);
	*out = (struct reference){ .seq = e->walk.seq, .hash = v.dump_hash, .is_absent = *refuses };
	if (v.kind != VERDICT_OK && !*refuses)
		return tell_failure(&v, where, err);
	if (v.kind == VERDICT_OK && e->options->recovery->dump)
		dump_texts_add(&e->result->texts, v.dump_hash, v.result.output,
			       v.result.output_len);
	return 0;
}

static bool is_late(struct file_explorer *e)
{
	e->refs.is_late |= e->refs.deadline_ns && clock_ns() >= e->refs.deadline_ns;
	return e->refs.is_late;
}

/* Takes the reference of the end. If the program was killed, the end is a moment like any other:
 * recovery may fail there. */
static int take_end(struct file_explorer *e, uint64_t *time_us, struct error *err)
{
	struct verdict v;
	bool refuses;

	e->refs.has_final = true;
	if (e->plan->cut == CUT_NONE)
		return take_reference(e, "on the final state", &refuses, &e->refs.final, time_us,
				      err);
	if (run_whole(e, &v, time_us, err) < 0)
		return -1;
	e->refs.has_final = v.kind == VERDICT_OK;
	e->refs.final = (struct reference){ .hash = v.dump_hash };
	if (e->refs.has_final && e->options->recovery->dump)
		dump_texts_add(&e->result->texts, v.dump_hash, v.result.output,
			       v.result.output_len);
	return 0;
}

/* Takes the references of the start, of the ends of operations if dumps are compared, and of the
 * end. */
static int take_references(struct file_explorer *e, uint64_t *time_us, struct error *err)
{
	const bool wants_all = e->options->recovery->dump && !e->options->allowed &&
			       !plan_why_no_operations(e->plan);
	struct reference now = { 0 };
	bool refuses;
	int result;

	file_walk_init(&e->walk, e->plan, &e->followed, wants_all ? FILE_BOUNDARIES : 0);
	result = take_reference(e, "on the initial state", &e->refuses_empty, &e->refs.initial,
				time_us, err);
	while (result == 0 && !is_late(e) && file_walk_next(&e->walk)) {
		result = take_reference(e, "between two operations", &refuses, &now, time_us, err);
		if (result == 0)
			*vec_add(&e->refs.list) = now;
	}
	if (result == 0 && !is_late(e))
		result = take_end(e, time_us, err);
	file_walk_release(&e->walk);
	if (result == 0)
		references_know(&e->refs, e->plan);
	e->refs.is_buffered = e->options->recovery->is_buffered;
	e->refs.is_known = result == 0 && wants_all && !is_late(e);
	return result;
}

/* Counts the failure points, and deals them to the parts. A failure point costs what it has
 * undecided. */
static uint64_t deal_points(struct file_explorer *e)
{
	struct dealer d;
	uint64_t n;

	dealer_init(&d, e->options->shard);
	file_walk_init(&e->walk, e->plan, &e->followed, FILE_POINTS);
	while (file_walk_next(&e->walk)) {
		if (e->options->shard.of)
			file_point_begin(e);
		dealer_add(&d, e->options->shard.of ? e->items.n + 1 : 1, &e->share);
	}
	n = e->walk.point;
	file_walk_release(&e->walk);
	dealer_release(&d);
	return n;
}

/* ---- all failure points ---- */

static void note_uncompared(struct file_explorer *e)
{
	struct crash_counters *c = &e->result->counters;

	if (!e->options->recovery->dump || e->result->why_no_dump || e->allowed.hashes.n > 0)
		return;
	c->uncompared++;
	c->overlapping += references_overlap(&e->refs, e->plan, e->walk.seq);
}

/* Sets what a dump may print after a crash here. If the crash interrupts a recovery, that is what
 * was allowed before that recovery, and is set already. */
static void allow(struct file_explorer *e)
{
	if (!e->options->allowed)
		references_allow(&e->refs, e->plan, e->walk.is_over ? UINT64_MAX : e->walk.seq,
				 &e->allowed);
}

/* Saves the result: `ndone` failure points of the share are done, and no other one is begun. */
static void save(struct file_explorer *e, uint64_t ndone)
{
	e->result->ndone = ndone;
	e->kept_ns = clock_ns();
	e->options->keep(e->result, e->options->keep_arg);
}

static int search_share(struct file_explorer *e, struct error *err)
{
	const bool is_kept = e->options->keep != NULL;
	uint64_t i = e->result->ndone;
	int result = 0;

	if (is_kept)
		save(e, i);
	while (result == 0 && i < e->share.n && !file_is_over(e) && file_walk_next(&e->walk)) {
		if (e->walk.point != share_at(&e->share, i))
			continue;
		allow(e);
		note_uncompared(e);
		result = file_search(e, err);
		i++;
		if (is_kept && result == 0 && !e->result->counters.is_stopped &&
		    (i == e->share.n || i < SAVE_FIRST || clock_ns() - e->kept_ns >= SAVE_NS))
			save(e, i);
	}
	return result;
}

static int search_all(struct file_explorer *e, struct error *err)
{
	int result;

	file_walk_init(&e->walk, e->plan, &e->followed, FILE_POINTS);
	result = search_share(e, err);
	file_walk_release(&e->walk);
	/* a run that the user interrupted is no error */
	return result < 0 && file_is_over(e) && e->result->counters.is_interrupted ? 0 : result;
}

/* ---- states that parts noted ---- */

static int by_point(const void *a, const void *b)
{
	const struct failing_state *x = a, *y = b;

	return x->point != y->point ? (x->point > y->point) - (x->point < y->point)
				    : (x->number > y->number) - (x->number < y->number);
}

static int explain_state(struct file_explorer *e, const struct failing_state *f, struct error *err)
{
	const struct verdict v = { .kind = f->kind, .code = f->code, .site = f->site };

	while (e->walk.point < f->point)
		if (!file_walk_next(&e->walk))
			break;
		else if (e->walk.point == f->point) {
			file_point_begin(e);
			allow(e);
		}
	if (e->walk.point != f->point)
		return error_set(err, "a part is damaged: this trace has no failure point %llu",
				 (unsigned long long)f->point);
	return file_explain(e, &v, f->states, err);
}

/* Explains all failing states in the order in which one process would have met them. */
static int explain_noted(struct file_explorer *e, struct error *err)
{
	struct crash_result *r = e->result;
	int result = 0;

	if (r->failing.n > 1)
		qsort(r->failing.at, r->failing.n, sizeof *r->failing.at, by_point);
	file_walk_init(&e->walk, e->plan, &e->followed, FILE_POINTS);
	for (size_t i = 0; i < r->failing.n && result == 0; i++)
		result = explain_state(e, &r->failing.at[i], err);
	file_walk_release(&e->walk);
	return result < 0 && r->counters.is_interrupted ? 0 : result;
}

static void keep_objects(struct file_explorer *e)
{
	const struct trace_object *list;

	for (int part = 0; part < PART_N; part++) {
		const struct runner_command *c =
			recovery_command(e->options->recovery, (enum recovery_part)part);
		const size_t n = c ? runner_objects(e->runner, c, &list) : 0;

		for (size_t i = 0; i < n; i++) {
			struct trace_object *o = vec_add(&e->result->objects[part]);

			*o = list[i];
			o->path = xstrdup(list[i].path);
			o->id = (uint32_t)(i * PART_N) + (uint32_t)part;
		}
	}
}

/* Notes what crash states of memory lack: files of persistent memory that are not in the folder,
 * and contents of a line that has too many. */
static void note_memory(struct file_explorer *e)
{
	for (uint32_t i = 1; i <= trace_nfiles(e->plan->trace); i++) {
		const struct trace_file *f = trace_file(e->plan->trace, i);

		if (f && !(f->flags & PMT_FILE_FOLLOWED))
			*vec_add(&e->result->why_incomplete) = xasprintf(
				"%s is persistent memory beside the folder: crash states do not follow it",
				f->path);
	}
	if (e->result->has_partial_lines)
		*vec_add(&e->result->why_incomplete) =
			xstrdup("a line of memory has more contents than could be listed");
}

static void conclude(struct file_explorer *e, int result, const struct error *err)
{
	struct crash_result *r = e->result;
	const bool is_interrupted = r->counters.is_interrupted != 0;

	note_memory(e);
	missing_find(&r->why_incomplete, e->plan, e->options, r, is_interrupted,
		     result < 0 ? err->msg : NULL);
	r->is_broken_off = (trace_damage(e->plan->trace) && !trace_is_cut_off(e->plan->trace)) ||
			   is_interrupted;
	r->is_complete = r->is_exhausted = result == 0 && r->why_incomplete.n == 0;
	r->counters.has_opened = r->counters.had_file = 1;
}

static uint32_t time_limit(const struct file_explorer *e, uint64_t clean_us)
{
	const uint64_t limit_ms = clean_us / 1000 * TIMEOUT_FACTOR;

	if (e->options->runner.timeout_ms)
		return e->options->runner.timeout_ms;
	return limit_ms < TIMEOUT_MIN_MS ? TIMEOUT_MIN_MS : (uint32_t)limit_ms;
}

/* Runs recovery where nothing is lost. */
static int begin_runs(struct file_explorer *e, struct error *err)
{
	struct crash_result *r = e->result;
	uint64_t time_us = 0;

	runner_set_deadline(e->runner, e->options->limits.deadline_ns);
	if (take_references(e, &time_us, err) < 0)
		return -1;
	runner_set_deadline(e->runner, 0);
	r->needs_pool = e->refuses_empty;
	r->timeout_ms = time_limit(e, time_us);
	runner_set_timeout(e->runner, r->timeout_ms);
	return 0;
}

/* Adds the saved result of an earlier run of this part. */
static int take_done(struct file_explorer *e, struct error *err)
{
	struct crash_result *r = e->result, *done = e->options->done;

	if (done->nshare != r->nshare || done->npoints != r->npoints)
		return error_set(
			err,
			"the saved part of an earlier run is damaged; remove it and start again");
	done->nshare = 0;
	part_add(r, done);
	return 0;
}

/* Explores the share of the failure points that is this process's. */
static int explore_share(struct file_explorer *e, struct error *err)
{
	struct crash_result *r = e->result;
	int result = 0;

	r->npoints = deal_points(e);
	r->nshare = e->share.n;
	if (r->npoints == 0 && !e->options->may_lack_news)
		result = error_set(
			err, "%s holds no failure point: no file below --files was changed%s",
			e->plan->path, e->plan->has_roi ? " inside the region of interest" : "");
	if (result == 0)
		result = begin_runs(e, err);
	if (result == 0 && e->options->done)
		result = take_done(e, err);
	if (result < 0)
		return -1;
	r->counters.is_late |= e->refs.is_late;
	r->counters.is_stopped |= e->refs.is_late;
	e->has_begun = true;
	result = search_all(e, err);
	return result == 0 ? explain_noted(e, err) : -1;
}

/* Draws the conclusions from the results of all parts. */
static int conclude_sum(struct file_explorer *e, struct error *err)
{
	struct crash_result *r = e->result;

	*r = *e->options->sum;
	*e->options->sum = (struct crash_result){ 0 };
	r->is_of_files = true;
	e->has_begun = true;
	if (r->failing.n == 0)
		return 0;
	return begin_runs(e, err) < 0 ? -1 : explain_noted(e, err);
}

int files_explore(const struct plan *p, const struct crash_options *o, struct crash_result *r,
		  struct error *err)
{
	struct file_explorer e;
	int result;

	*r = (struct crash_result){ .is_of_files = true };
	result = explorer_begin(&e, p, o, r, err);
	if (result < 0)
		goto out;
	if (o->recovery->dump && !o->allowed)
		r->why_no_dump = plan_why_no_operations(p);
	result = o->sum ? conclude_sum(&e, err) : explore_share(&e, err);
	if (!e.has_begun)
		goto out;
	file_tell_found(&e);
	if (!o->sum)
		keep_objects(&e);
	conclude(&e, result, err);
out:
	explorer_end(&e);
	return result;
}

/* ---- one state ---- */

static int go_to(struct file_explorer *e, const char *state, struct error *err)
{
	const uint64_t point = strtoull(state, NULL, 10);

	while (e->walk.point != point)
		if (!file_walk_next(&e->walk))
			return error_set(err,
					 "--replay %s: this trace has only %llu failure points",
					 state, (unsigned long long)e->walk.point);
	file_point_begin(e);
	return file_state_parse(e, state, err);
}

static int put_folder(struct file_explorer *e, const char *folder, struct error *err)
{
	uint64_t *left;
	int result;

	/* an empty one may be there: nobody's file is removed */
	if (mkdir(folder, 0777) < 0 &&
	    (errno != EEXIST || rmdir(folder) < 0 || mkdir(folder, 0777) < 0))
		return error_set(err, "cannot make the folder %s: %s; name one that is not there",
				 folder, strerror(errno));
	file_layout(e);
	left = layout_state(&e->layout);
	result = layout_put(&e->layout, folder, left, err);
	free(left);
	return result;
}

struct clean_runs {
	struct file_explorer *e;
	int (*tell)(const struct verdict *v, bool is_end, void *arg);
	void *arg;
};

static int run_clean(const struct clean_runs *c, struct error *err)
{
	uint64_t time_us = 0;
	struct verdict v;

	if (run_whole(c->e, &v, &time_us, err) < 0)
		return -1;
	return c->tell(&v, c->e->walk.is_over, c->arg);
}

int files_run_clean(const struct plan *p, const struct crash_options *o,
		    int (*tell)(const struct verdict *v, bool is_end, void *arg), void *arg,
		    struct error *err)
{
	struct crash_result r = { 0 };
	struct file_explorer e;
	const struct clean_runs c = { &e, tell, arg };
	int result = explorer_begin(&e, p, o, &r, err);

	if (result == 0) {
		file_walk_init(&e.walk, p, &e.followed, FILE_POINTS);
		result = run_clean(&c, err);
		while (result == 0 && file_walk_next(&e.walk) && !e.walk.is_over)
			if ((e.walk.point & (e.walk.point - 1)) == 0)
				result = run_clean(&c, err);
		if (result == 0)
			result = run_clean(&c, err);
		file_walk_release(&e.walk);
	}
	explorer_end(&e);
	crash_result_release(&r);
	return result < 0 ? -1 : 0;
}

int files_put_state(const struct plan *p, const struct crash_options *o, const char *state,
		    const char *folder, struct error *err)
{
	struct crash_result r = { 0 };
	struct file_explorer e;
	int result = explorer_begin(&e, p, o, &r, err);

	if (result == 0) {
		file_walk_init(&e.walk, p, &e.followed, FILE_POINTS);
		result = go_to(&e, state, err) < 0 ? -1 : put_folder(&e, folder, err);
		file_walk_release(&e.walk);
	}
	explorer_end(&e);
	crash_result_release(&r);
	return result;
}

static void tell_lost(const struct file_explorer *e, const struct files_replay *f)
{
	for (size_t i = 0; i < e->items.n; i++) {
		const struct files_item *it = &e->items.at[i];

		for (uint32_t v = it->version + 1; v < it->nversions; v++) {
			const struct files_change *c = files_item_change(it, v);

			f->lost(it->kind, it->kind == FILES_NAMES ? c->addr : it->key, c->site,
				f->arg);
		}
	}
}

static int replay_here(struct file_explorer *e, const struct files_replay *f, struct error *err)
{
	struct verdict v;

	if (go_to(e, f->state, err) < 0 || (f->keep && put_folder(e, f->keep, err) < 0))
		return -1;
	if (f->lost)
		tell_lost(e, f);
	allow(e);
	if (file_run_state(e, &e->allowed, &v, err) < 0)
		return -1;
	f->tell(&v, &e->allowed, &e->result->texts, f->arg);
	return 0;
}

int files_replay(const struct plan *p, const struct crash_options *o, const struct files_replay *f,
		 struct error *err)
{
	struct crash_result r = { 0 };
	struct file_explorer e;
	uint64_t time_us = 0;
	int result = explorer_begin(&e, p, o, &r, err);

	if (result == 0 && o->recovery->dump && !plan_why_no_operations(p))
		result = take_references(&e, &time_us, err);
	if (result == 0) {
		file_walk_init(&e.walk, p, &e.followed, FILE_POINTS);
		result = replay_here(&e, f, err);
		file_walk_release(&e.walk);
	}
	explorer_end(&e);
	crash_result_release(&r);
	return result;
}
