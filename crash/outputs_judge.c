/* Judges outputs of recovery that occurred only on states that lost something. Each such state is
 * run again, and so is the newest state of that failure point, where nothing is lost. If either
 * prints something else the second time, the output depends on more than the state (times, process
 * numbers), and nothing is reported. Otherwise the state is minimised and explained like a failure.
 * It is a bug if a store is lost that is older than a surviving store of the same thread. Any other
 * state is one that the program itself could have had, perhaps with another order of its
 * threads. */
#include "crash/outputs_judge.h"

#include <stdlib.h>
#include <string.h>

#include "crash/search/state_text.h"

#define LOOKS_MAX 16u /* outputs that are judged; each costs some runs */

struct look {
	struct explorer explorer;
	/* its allowed outputs are those that occurred with nothing lost */
	struct recovery recovery;
	struct walk walk;
	const struct index *index; /* NULL: no index */
	bool is_chance;            /* recovery prints more than the state determines */
};

static int compare_doubts(const void *a, const void *b)
{
	const struct output_doubt *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return strcmp(x->state, y->state);
}

/* Runs recovery once more. Does it end and print the same as the first time? */
static int is_same(struct look *l, const uint64_t *state, const struct verdict *first,
		   struct error *err)
{
	struct verdict again;

	if (explorer_try(&l->explorer, state, &again, err) < 0)
		return -1;
	return !again.why_unsound && again.kind == first->kind &&
	       again.output_hash == first->output_hash;
}

/* Does recovery print the same as in its first run on the state, and does it print what it printed
 * before with nothing lost? 0: one of the two prints something else. */
static int is_steady(struct look *l, const struct output_doubt *d, const uint64_t *state,
		     struct verdict *v, struct error *err)
{
	uint64_t *newest = states_newest(&l->explorer.set);
	int result = explorer_try(&l->explorer, newest, v, err);

	if (result == 0)
		result = v->why_unsound || v->kind != VERDICT_OK ? 0 : is_same(l, newest, v, err);
	free(newest);
	if (result <= 0 || explorer_try(&l->explorer, state, v, err) < 0)
		return result < 0 ? -1 : result == 0 ? 0 : -1;
	return !v->why_unsound && v->kind == VERDICT_OUTPUT && v->output_hash == d->hash;
}

/* Did one thread make the stores of both events? */
static bool is_one_thread(const struct plan *p, uint64_t a, uint64_t b)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev, first = { 0 };
	bool is_one = false;

	while (trace_next(t, &ev) && ev.seq <= (a > b ? a : b)) {
		if (ev.seq == (a < b ? a : b))
			first = ev;
		if (ev.seq == (a > b ? a : b))
			is_one =
				first.seq && first.stream == ev.stream && first.thread == ev.thread;
	}
	trace_close(t);
	return is_one;
}

/* Did one instruction make both the first store of the list a and store b, whoever called it? */
static bool is_same_place(const struct plan *p, const struct crash_store *a, size_t na,
			  const struct crash_store *b)
{
	const struct trace_site *x =
		na > 0 && a[0].site < p->sites.n ? p->sites.at[a[0].site] : NULL;
	const struct trace_site *y = b->site < p->sites.n ? p->sites.at[b->site] : NULL;

	return x && y && x->pc == y->pc;
}

/* Does a known bug lose the same store as bug b, or does the same store survive too early in both
 * bugs? Fixing the known bug shows whether b is left. */
static bool is_known(const struct plan *p, const struct crash_result *r, const struct crash_bug *b)
{
	for (size_t i = 0; i < r->bugs.n; i++) {
		const struct crash_bug *k = &r->bugs.at[i];

		if (is_same_place(p, k->lost.at, k->lost.n, &b->lost.at[0]) ||
		    is_same_place(p, k->survived.at, k->survived.n, &b->survived.at[0]))
			return true;
	}
	return false;
}

/* Is the state a bug: the program never had it, one thread made it, and no known bug explains
 * it? */
static bool is_bug(const struct plan *p, const struct crash_result *r, const struct crash_bug *b)
{
	return (strcmp(b->kind, "ordering") == 0 || strcmp(b->kind, "missing-flush") == 0) &&
	       !b->is_in_line && b->lost.n > 0 && b->survived.n > 0 &&
	       is_one_thread(p, b->lost.at[0].seq, b->survived.at[0].seq) && !is_known(p, r, b);
}

static int look_into(struct look *l, struct output_doubt *d, struct crash_result *r,
		     struct error *err)
{
	struct explorer *e = &l->explorer;
	struct crash_store oldest;
	struct crash_bug b;
	struct verdict v;
	uint64_t *state;
	enum minimise_end end;
	int steady;

	if (index_seek_point(l->index, &l->walk, d->point, err) < 0)
		return -1;
	while (l->walk.point < d->point && walk_next(&l->walk))
		;
	state = l->walk.point == d->point &&
				state_collect(&e->set, l->walk.model, d->state, err) == 0
			? state_parse(&e->set, d->state, err)
			: NULL;
	if (!state)
		/* the line has too many contents, and another sample of them was listed */
		return 0;
	recovery_set_moment(&l->recovery, e->runner, l->walk.plan, l->walk.seq);
	runner_load(e->runner, &l->walk.image, &e->set);
	seen_clear(&e->seen_runs);
	steady = is_steady(l, d, state, &v, err);
	l->is_chance |= steady == 0;
	if (steady <= 0 || !outputs_know_shapes(&r->outputs, v.output, v.output_len)) {
		free(state);
		return steady < 0 ? -1 : 0;
	}
	explain_begin(e, &v, &b);
	end = explain(e, state, &v, &b, &oldest, err);
	if (end == MINIMISE_DONE)
		end = explain_confirm(e, state, &v, &b, err);
	if (end == MINIMISE_DONE && is_bug(l->walk.plan, r, &b)) {
		b.kind = "recovery-output";
		*vec_add(&r->bugs) = b;
	} else {
		crash_bug_release(&b);
	}
	free(state);
	return end == MINIMISE_ERROR ? -1 : 0;
}

static int look_into_all(struct look *l, struct crash_result *r, struct error *err)
{
	const size_t nbefore = r->bugs.n;
	int result = 0;

	qsort(r->outputs.doubts.at, r->outputs.doubts.n, sizeof *r->outputs.doubts.at,
	      compare_doubts);
	for (size_t i = 0; i < r->outputs.doubts.n && result == 0 && !l->is_chance &&
			   i < LOOKS_MAX && !explorer_is_late(&l->explorer);
	     i++)
		result = look_into(l, &r->outputs.doubts.at[i], r, err);
	while (l->is_chance && r->bugs.n > nbefore)
		crash_bug_release(&r->bugs.at[--r->bugs.n]);
	return result;
}

int outputs_judge(const struct plan *p, const struct crash_options *o, struct crash_result *r,
		  struct crash_counters *counters, struct error *err)
{
	struct look l = { .recovery = *o->recovery, .index = o->index };
	int result = -1;

	outputs_clear(&r->outputs);
	if (r->outputs.doubts.n == 0 || r->outputs.doubts.n >= OUTPUTS_MAX)
		return 0;
	l.recovery.outputs = &r->outputs;
	l.explorer = (struct explorer){ .strategy = o->strategy,
					.walk = &l.walk,
					.recovery = &l.recovery,
					.limits = o->limits,
					.counters = counters };
	l.explorer.runner = runner_new(&o->runner, p->mappings.at, p->mappings.n, err);
	if (!l.explorer.runner)
		return -1;
	walk_init(&l.walk, p, o->stops);
	result = look_into_all(&l, r, err);
	runner_free(l.explorer.runner);
	explorer_release(&l.explorer);
	walk_release(&l.walk);
	return result;
}
