/* Explores the failure points that this process claims, and reports its findings to the parent.
 * messages.h lists the messages. */
#include "crash/workers/worker.h"

#include <stdio.h>
#include <string.h>

#include "crash/search/state_text.h"
#include "crash/workers/internal.h"
#include "crash/workers/messages.h"

/* ---- first crashes ---- */

/* Was the signature reported already? It is reported again if it occurs at an earlier failure
 * point, so that it does not matter which worker is first. */
static bool is_told(struct worker *w, uint64_t signature, uint64_t point)
{
	for (size_t i = 0; i < w->signatures.n; i++) {
		struct told_signature *t = &w->signatures.at[i];

		if (t->signature != signature)
			continue;
		if (t->point <= point)
			return true;
		t->point = point;
		return false;
	}
	*vec_add(&w->signatures) = (struct told_signature){ signature, point };
	return false;
}

static void send_first_crash(struct worker *w, uint64_t signature, bool is_oldest,
			     const uint64_t *state)
{
	struct explorer *e = &w->explorer;
	struct first_crash f = { .signature = signature,
				 .is_oldest = is_oldest,
				 .point = e->walk->point,
				 .seq = e->walk->seq,
				 .operation = recovery_operation(e->recovery, e->walk->plan,
								 e->walk->seq) };
	struct wire m = worker_message_begin(MESSAGE_FIRST_CRASH);

	f.state = state_text(&e->set, e->walk->point, state);
	for (size_t i = 0; i < e->allowed.hashes.n; i++)
		*vec_add(&f.allowed) = e->allowed.hashes.at[i];
	first_crash_pass(&m, &f);
	worker_message_send(w->fd, &m);
	free(f.state);
	vec_release(&f.allowed);
}

/* ---- outputs ---- */

static bool loses_nothing(const struct explorer *e, const uint64_t *left)
{
	for (size_t i = 0; i < e->set.lines.n; i++)
		if (states_newest_left(&e->set.lines.at[i], left) !=
		    e->set.lines.at[i].ncontents - 1)
			return false;
	return true;
}

static void send_shape(uint64_t shape, void *arg)
{
	wire_number(arg, shape);
}

static void count_shape(uint64_t shape, void *arg)
{
	(void)shape;
	++*(uint64_t *)arg;
}

static void send_clean_output(struct worker *w, const struct verdict *v)
{
	struct wire m = worker_message_begin(MESSAGE_CLEAN_OUTPUT);
	uint64_t n = 0;

	output_shapes(v->output, v->output_len, count_shape, &n);
	wire_number(&m, v->output_hash);
	wire_number(&m, n);
	output_shapes(v->output, v->output_len, send_shape, &m);
	worker_message_send(w->fd, &m);
}

static void send_doubt(struct worker *w, const struct explorer *e, const uint64_t *left,
		       const struct verdict *v)
{
	char *text = state_text(&e->set, e->walk->point, left);
	struct wire m = worker_message_begin(MESSAGE_OUTPUT_DOUBT);

	wire_number(&m, v->output_hash);
	wire_number(&m, e->walk->point);
	wire_string(&m, text);
	worker_message_send(w->fd, &m);
	outputs_doubt(&w->outputs, v->output_hash, e->walk->point, text);
}

static void note_output(struct worker *w, const struct explorer *e, const uint64_t *left,
			const struct verdict *v)
{
	if (v->kind != VERDICT_OK || v->why_unsound)
		return;
	if (loses_nothing(e, left)) {
		if (outputs_add(&w->outputs, v->output_hash))
			send_clean_output(w, v);
	} else if (outputs_wants(&w->outputs, v->output_hash, e->walk->point)) {
		send_doubt(w, e, left, v);
	}
}

/* Is the output needed? Where nothing is lost, the lines of a new output are reported. */
static bool wants_text(struct explorer *e, const uint64_t *left, const struct verdict *v, void *arg)
{
	const struct worker *w = arg;

	return w->watches_output && loses_nothing(e, left) &&
	       !outputs_has(&w->outputs, v->output_hash);
}

static void on_run(struct explorer *e, const uint64_t *before, const uint64_t *after,
		   const struct verdict *v, void *arg)
{
	struct worker *w = arg;
	uint64_t signature, *newest, *oldest;

	if (w->races)
		races_note_run(w->races, e, before, after, v);
	if (w->watches_output && !e->is_diagnosis)
		note_output(w, e, after, v);
	if (!w->wants_first_crashes || e->is_diagnosis)
		return;
	signature = v->kind != VERDICT_OK ? 0
		    : e->recovery->then   ? v->changes
					  : runner_changes(e->runner);
	if (signature == 0 || is_told(w, signature, e->walk->point))
		return;
	send_first_crash(w, signature, false, after);
	newest = explorer_state(e, after);
	oldest = explorer_oldest(e, after); /* the second recovery may read what this one did not */
	if (memcmp(newest, oldest, e->set.nwords * sizeof *newest) != 0)
		send_first_crash(w, signature, true, oldest);
	free(newest);
	free(oldest);
}

/* ---- races ---- */

/* Prepares a visit of a failure point. If it starts again, because more contents are needed,
 * earlier counts are dropped, and old sets of states are invalid. */
static void on_point(struct explorer *e, bool is_again, void *arg)
{
	struct worker *w = arg;

	if (!is_again)
		known_begin_point(w);
	if (w->races)
		races_begin_point(w->races, e, is_again);
}

static void send_races(struct worker *w)
{
	const struct race *list;
	size_t n = w->races ? races_list(w->races, &list) : 0;

	for (size_t i = 0; i < n; i++) {
		struct race race = list[i];
		struct wire m = worker_message_begin(MESSAGE_RACE);

		race_pass(&m, &race);
		worker_message_send(w->fd, &m);
	}
}

static void send_turns(struct worker *w)
{
	race_turns *list = w->races ? races_turns(w->races) : NULL;

	for (size_t i = 0; list && i < list->n; i++) {
		struct wire m = worker_message_begin(MESSAGE_RACE_TURN);

		race_turn_pass(&m, &list->at[i]);
		worker_message_send(w->fd, &m);
	}
}

/* ---- the worker's work ---- */

static void send_reads(struct worker *w)
{
	struct wire m = worker_message_begin(MESSAGE_READS);

	run_reads_pass(&m, &w->explorer.reads);
	worker_message_send(w->fd, &m);
}

static void send_counts(struct worker *w)
{
	struct wire m = worker_message_begin(MESSAGE_COUNTS);

	wire_number(&m, w->known.n);
	for (size_t i = 0; i < w->known.n; i++) {
		wire_number(&m, w->known.at[i].bug.count);
		wire_number(&m, w->known.at[i].bug.last_point);
		bug_endings_pass(&m, &w->known.at[i].bug);
	}
	worker_message_send(w->fd, &m);
}

static void send_end(struct worker *w)
{
	char *seen = big_string(&w->explorer.states_seen),
	     *all = big_string(&w->explorer.states_all);
	struct wire m = worker_message_begin(MESSAGE_END);

	wire_string(&m, seen);
	wire_string(&m, all);
	wire_string(&m, w->explorer.why_fallback[0] ? w->explorer.why_fallback : NULL);
	wire_string(&m, w->explorer.why_impossible[0] ? w->explorer.why_impossible : NULL);
	worker_message_send(w->fd, &m);
	free(seen);
	free(all);
}

static void send_error(struct worker *w, struct error *err)
{
	struct wire m = worker_message_begin(MESSAGE_ERROR);

	wire_string(&m, err->msg);
	worker_message_send(w->fd, &m);
}

int worker_run(const struct plan *p, const struct crash_options *o, const struct references *refs,
	       const struct representatives *reps, struct crash_counters *counters,
	       struct race_table *table, uint32_t number, const struct lot *lot, int fd)
{
	struct worker w = { .refs = refs,
			    .reps = reps,
			    .fd = fd,
			    .table = table,
			    .number = number,
			    .jobs = o->jobs,
			    .window = o->window,
			    .window_ends = o->window_ends,
			    .lot = lot,
			    .index = o->index,
			    .wants_first_crashes = o->wants_first_crashes,
			    .watches_output = o->watches_output,
			    .is_whole = o->shard.of && !o->races.is_wanted && !o->limits.max_runs &&
					!o->limits.deadline_ns };
	struct runner_options runner = o->runner;
	struct walk walk = { 0 };
	struct error err = { "" };
	int result = -1;

	runner.is_cancelled = &counters->is_interrupted;
	w.explorer = (struct explorer){ .strategy = o->strategy,
					.walk = &walk,
					.recovery = o->recovery,
					.limits = o->limits,
					.counters = counters,
					.on_failure = known_on_failure,
					.on_point = on_point,
					.wants_text = wants_text,
					.on_run = o->wants_first_crashes || o->races.is_wanted ||
								  o->watches_output
							  ? on_run
							  : NULL,
					.arg = &w };
	if (o->races.is_wanted) {
		w.races = races_new(&o->races, table, number);
		w.explorer.wants_reads = true;
	}
	beside_read(&w.beside, p->trace, o->runner.paths);
	w.explorer.runner = runner_new(&runner, p->mappings.at, p->mappings.n, &err);
	if (o->allowed) {
		w.is_allowed_fixed = true;
		for (size_t i = 0; i < o->allowed->hashes.n; i++)
			*vec_add(&w.explorer.allowed.hashes) = o->allowed->hashes.at[i];
	}
	if (w.explorer.runner) {
		walk_init(&walk, p, o->stops);
		if (w.races)
			walk_add_shadow(&walk);
		result = rounds_explore(&w, &err);
	}
	/* others must not wait for this worker */
	if (result < 0)
		__atomic_store_n(&counters->is_stopped, 1, __ATOMIC_RELAXED);
	rounds_release(&w);
	if (table)
		race_table_begin(table, number, UINT64_MAX);
	/* the run that was stopped does not count; the report says that the user interrupted */
	if (result < 0 && __atomic_load_n(&counters->is_interrupted, __ATOMIC_RELAXED))
		result = 0;
	if (result < 0)
		send_error(&w, &err);
	send_counts(&w);
	send_races(&w);
	send_turns(&w);
	send_reads(&w);
	send_end(&w);
	if (w.explorer.runner && runner_has_moved(w.explorer.runner))
		__atomic_store_n(&counters->has_moved, 1, __ATOMIC_RELAXED);
	if (w.explorer.runner && runner_has_sandbox(w.explorer.runner))
		__atomic_store_n(&counters->has_sandbox, 1, __ATOMIC_RELAXED);
	if (w.explorer.runner && runner_has_opened(w.explorer.runner))
		__atomic_store_n(&counters->has_opened, 1, __ATOMIC_RELAXED);
	if (w.explorer.runner && runner_has_missed(w.explorer.runner))
		__atomic_store_n(&counters->has_missed, 1, __ATOMIC_RELAXED);
	runner_free(w.explorer.runner);
	known_release(&w);
	vec_release(&w.signatures);
	outputs_release(&w.outputs);
	beside_release(&w.beside);
	races_free(w.races);
	explorer_release(&w.explorer);
	walk_release(&walk);
	return result < 0;
}
