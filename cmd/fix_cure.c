/* What mends a bug that a crash shows is tried on the trace before anything is written: recovery runs on the crash states that
 * failed, and on those around them, as they would be with a barrier or a transaction more. Barriers first, which cost least; else the
 * smallest transaction; else nothing, with the evidence. The report's replay command says how recovery is run, and on which trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/fix_judge.h"
#include "cmd/fix_places.h"
#include "cmd/fixing.h"

/* One bug that a crash shows. */
struct candidate {
	size_t bug;
	uint64_t seq; /* the crash comes before this event */
	struct cure_window window;
	bool is_barrier; /* by now */
	bool is_done;
};

struct fix_cures {
	struct fixing *f;
	struct repair_bug **bugs;
	struct crash_setup setup;
	struct runner_command *replay; /* owns the words that setup points to */
	char **argv;		       /* the words, in the order that options_parse() likes */
	const char *trace;
	struct plan *plan;
	struct fix_places places;
	struct fix_judge judge;
	struct whatif whatif;
	VEC(struct repair_place *) lists; /* owned */
	VEC(struct candidate) candidates;
	VEC(char *) texts; /* owned */
	uint64_t start_ns;
};

static const char *keep_text(struct fix_cures *c, char *text)
{
	*vec_add(&c->texts) = text;
	return text;
}

/* ---- which bugs ---- */

static bool is_candidate(const struct bug *b)
{
	static const char *const kinds[] = { "ordering", "atomicity", "missing-flush", "missing-flush-fence" };

	for (size_t i = 0; b->crash && b->crash->replay && b->nlocations > 0 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(b->kind, kinds[i]) == 0)
			return strcmp(b->locations[0].role, "lost") == 0 || strcmp(b->locations[0].role, "survived") == 0;
	return false;
}

static void decline(struct fix_cures *c, size_t bug, char *why)
{
	c->bugs[bug]->cure = (struct repair_cure){ .kind = CURE_NONE, .why = keep_text(c, why) };
}

/* ---- how recovery was run ---- */

/* The options of `pmend crash … --replay STATE TRACE`, without the state. Gives false with a reason if they cannot be used. */
static bool read_replay(struct fix_cures *c, const char *line, const char **why)
{
	struct crash_setup *s = &c->setup;
	const struct option table[] = { CRASH_OPTIONS(s), CRASH_RACE_OPTIONS(s), CRASH_REPLAY_OPTIONS(s), { 0 } };
	struct error err;
	int n = 0;

	c->replay = runner_command_new(line, &err);
	for (n = 0; c->replay && c->replay->argv[n]; n++)
		;
	if (n < 3) {
		*why = "its replay command cannot be read";
		return false;
	}
	c->argv = xcalloc((size_t)n + 1, sizeof *c->argv);
	memcpy(c->argv, c->replay->argv + 1, (size_t)(n - 1) * sizeof *c->argv);
	if (options_parse(&cmd_crash, table, OPTIONS_FIRST, n - 1, c->argv) != 1) {
		*why = "its replay command cannot be read";
		return false;
	}
	c->trace = c->f->trace = c->argv[0];
	s->replay = NULL;
	if (access(c->trace, R_OK) != 0) {
		*why = keep_text(c, xasprintf("its trace %s is not there, so no cure can be tried: explore again with 'pmend crash --trace FILE.pmt', "
					      "and mend in the same folder", c->trace));
		return false;
	}
	return true;
}

/* ---- barriers ---- */

/* As repair writes them: the location after a lost store is the flush, or the fence, that it had in time. */
static bool add_barriers(struct fix_cures *c, const struct bug *b)
{
	size_t n = c->whatif.barriers.n;

	for (size_t i = 0; i < b->nlocations; i++) {
		const char *next = i + 1 < b->nlocations ? b->locations[i + 1].role : "";
		bool has_flush = strcmp(next, "flush") == 0, has_fence = strcmp(next, "fence") == 0;
		uint32_t place;

		if (strcmp(b->locations[i].role, "lost") != 0)
			continue;
		place = fix_places_number(&c->places, &b->locations[has_flush ? i + 1 : i]);
		if (place == 0) {
			c->whatif.barriers.n = n;
			return false;
		}
		*vec_add(&c->whatif.barriers) = (struct whatif_barrier){ place, !has_flush, !has_fence };
	}
	return c->whatif.barriers.n > n;
}

/* All barriers that are still wanted. */
static void suppose_barriers(struct fix_cures *c)
{
	c->whatif.barriers.n = 0;
	for (size_t i = 0; i < c->candidates.n; i++)
		if (c->candidates.at[i].is_barrier)
			c->candidates.at[i].is_barrier = add_barriers(c, report_bug(c->f->report, c->candidates.at[i].bug));
}

/* Barriers of several bugs may only help together; those whose states fail with all of them are none of the cure. */
static int try_barriers(struct fix_cures *c, struct error *err)
{
	bool is_changed = true;

	for (size_t i = 0; i < c->candidates.n; i++)
		c->candidates.at[i].is_barrier = !c->candidates.at[i].is_done &&
						 strcmp(report_bug(c->f->report, c->candidates.at[i].bug)->kind, "atomicity") != 0;
	while (is_changed) {
		is_changed = false;
		suppose_barriers(c);
		for (size_t i = 0; i < c->candidates.n; i++) {
			struct candidate *x = &c->candidates.at[i];
			int holds = x->is_barrier ? cure_holds(&x->window, c->plan, &c->whatif, &c->judge.judge, err) : 1;

			if (holds < 0)
				return -1;
			if (holds == 0) {
				x->is_barrier = false;
				is_changed = true;
			}
		}
	}
	for (size_t i = 0; i < c->candidates.n; i++)
		if (c->candidates.at[i].is_barrier) {
			c->bugs[c->candidates.at[i].bug]->cure.kind = CURE_BARRIER;
			c->candidates.at[i].is_done = true;
		}
	return 0;
}

/* ---- transactions ---- */

struct numbers {
	VEC(uint32_t) list;
};

static bool has_number(const struct numbers *all, uint32_t n)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (all->list.at[i] == n)
			return true;
	return false;
}

/* The call paths of what an interval stores. */
static int list_stores(struct fix_cures *c, const struct whatif_interval *v, struct repair_cure *out, struct error *err)
{
	struct numbers seen = { 0 };
	struct repair_place *list;
	struct trace_event ev;
	struct trace *t;

	if (trace_open(&t, c->plan->path, err) < 0)
		return -1;
	while (trace_next(t, &ev) && ev.seq <= v->last_seq) {
		uint32_t place = trace_is_store(ev.kind) ? whatif_place(&c->whatif, ev.site) : 0;

		if (place && ev.seq >= v->first_seq && ev.stream == v->stream && ev.thread == v->thread && !has_number(&seen, place))
			*vec_add(&seen.list) = place;
	}
	trace_close(t);
	list = xcalloc(seen.list.n + 1, sizeof *list);
	for (size_t i = 0; i < seen.list.n; i++)
		list[i] = c->places.observed.at[seen.list.at[i] - 1];
	*vec_add(&c->lists) = list;
	out->stores = list;
	out->nstores = seen.list.n;
	vec_release(&seen.list);
	return 0;
}

/* The thread of a bug's first store. */
static int find_thread(const struct fix_cures *c, uint64_t seq, uint32_t *stream, uint32_t *thread, struct error *err)
{
	struct trace_event ev = { 0 };
	struct trace *t;

	if (trace_open(&t, c->plan->path, err) < 0)
		return -1;
	while (trace_next(t, &ev) && ev.seq < seq)
		;
	*stream = ev.stream;
	*thread = ev.thread;
	trace_close(t);
	return 0;
}

static void decline_interval(struct fix_cures *c, const struct candidate *x, const struct cure_steps *steps)
{
	if (steps->list.n == 0)
		decline(c, x->bug, xstrdup("nothing that the thread stored around the failure could be made atomic: how the data is laid out must change"));
	else
		decline(c, x->bug, xasprintf("no barrier and no transaction between two acknowledgements cures it: recovery fails (%s) even if all %zu steps from event %" PRIu64
					     " to %" PRIu64 " become durable at once; the design must change", c->judge.outcome, steps->list.n,
					     steps->list.at[0].first_seq, steps->list.at[steps->list.n - 1].last_seq));
}

static int try_interval(struct fix_cures *c, struct candidate *x, struct error *err)
{
	const struct bug *b = report_bug(c->f->report, x->bug);
	struct repair_cure *cure = &c->bugs[x->bug]->cure;
	struct cure_steps steps = { 0 };
	size_t first = 0, last = 0, nbefore = c->whatif.intervals.n;
	uint32_t stream, thread;
	int found = -1;

	if (find_thread(c, b->first_seq, &stream, &thread, err) == 0) {
		cure_steps_find(&steps, c->plan, &c->whatif, &x->window, x->seq, stream, thread);
		found = cure_interval_find(&x->window, c->plan, &c->whatif, &steps, &c->judge.judge, &first, &last, err);
	}
	if (found == 0)
		decline_interval(c, x, &steps);
	if (found > 0) {
		*cure = (struct repair_cure){ .kind = first == last && steps.list.at[first].is_tx ? CURE_LOG : CURE_TX,
					      .observed = c->places.observed.at,
					      .nobserved = c->places.observed.n };
		found = list_stores(c, &c->whatif.intervals.at[nbefore], cure, err); /* the others are further executions of it */
	}
	vec_release(&steps.list);
	return found < 0 ? -1 : 0;
}

/* What mended another bug may have mended this one. */
static int try_others(struct fix_cures *c, struct candidate *x, struct error *err)
{
	int holds;

	if (c->whatif.intervals.n == 0 && c->whatif.barriers.n == 0)
		return 0;
	holds = cure_holds(&x->window, c->plan, &c->whatif, &c->judge.judge, err);
	for (size_t i = 0; holds > 0 && i < c->candidates.n; i++) {
		const struct candidate *o = &c->candidates.at[i];
		enum repair_cure_kind kind = c->bugs[o->bug]->cure.kind;

		if (o == x || !o->is_done || kind == CURE_NONE || kind == CURE_WITH_OTHER || o->window.last_seq < x->window.first_seq ||
		    x->window.last_seq < o->window.first_seq)
			continue;
		c->bugs[x->bug]->cure = (struct repair_cure){ .kind = CURE_WITH_OTHER, .other = o->bug };
		x->is_done = true;
		return 0;
	}
	return holds < 0 ? -1 : 0;
}

static int try_transactions(struct fix_cures *c, struct error *err)
{
	for (size_t i = 0; i < c->candidates.n; i++) {
		struct candidate *x = &c->candidates.at[i];

		if (!x->is_done && try_others(c, x, err) < 0)
			return -1;
		if (!x->is_done && try_interval(c, x, err) < 0)
			return -1;
		x->is_done = true;
	}
	return 0;
}

/* ---- all ---- */

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int find_window(struct fix_cures *c, struct candidate *x, struct cure_points *points, const struct whatif *none, struct error *err)
{
	if (cure_window_find(&x->window, points, c->plan, none, &c->judge.judge, x->seq, err) < 0)
		return -1;
	if (!x->window.is_failing) {
		decline(c, x->bug, xstrdup("recovery copes with all crash states at its failure point when they are tried again, so no cure could be told from none"));
		x->is_done = true;
	}
	return 0;
}

/* Where each crash was, and the consistent points around it. */
static int find_windows(struct fix_cures *c, struct error *err)
{
	struct whatif none = { .places = c->whatif.places, .nplaces = c->whatif.nplaces };
	struct cure_points points = { 0 };
	int result = 0;

	cure_points_find(&points, c->plan, &none, &c->judge.judge);
	for (size_t i = 0; result == 0 && i < c->candidates.n; i++) {
		uint64_t number = report_bug(c->f->report, c->candidates.at[i].bug)->crash->failure_point;

		c->candidates.at[i].seq = number > 0 && number <= points.seqs.n ? points.seqs.at[number - 1] : 0;
	}
	qsort(c->candidates.at, c->candidates.n, sizeof *c->candidates.at, compare_candidates);
	for (size_t i = 0; result == 0 && i < c->candidates.n; i++)
		result = find_window(c, &c->candidates.at[i], &points, &none, err);
	cure_points_release(&points);
	return result;
}

static int try_all(struct fix_cures *c, struct error *err)
{
	if (fix_places_find(&c->places, c->plan, err) < 0)
		return -1;
	c->whatif.places = c->places.by_site.at;
	c->whatif.nplaces = c->places.by_site.n;
	if (fix_judge_init(&c->judge, &c->setup, c->plan, err) < 0 || find_windows(c, err) < 0 || try_barriers(c, err) < 0)
		return -1;
	return try_transactions(c, err);
}

static void tell_effort(const struct fix_cures *c)
{
	if (!c->f->quiet)
		warn("%" PRIu64 " cures tried on the trace, %" PRIu64 " runs of recovery (%" PRIu64 " failure points were known already), %.1f s",
		     c->judge.judge.ntried, c->judge.counters.runs, c->judge.verdicts.nfound, (double)(clock_ns() - c->start_ns) / 1e9);
}

static void try_trace(struct fix_cures *c)
{
	struct error err = { "" };

	crash_setup_begin(&cmd_crash, &c->setup);
	c->plan = crash_setup_plan(&c->setup, c->trace);
	if (!c->setup.options.platform->has_flush) {
		for (size_t i = 0; i < c->candidates.n; i++)
			decline(c, c->candidates.at[i].bug, xasprintf("on %s, cures are not tried", c->setup.options.platform->name));
	} else if (try_all(c, &err) < 0) {
		for (size_t i = 0; i < c->candidates.n; i++)
			if (!c->candidates.at[i].is_done)
				decline(c, c->candidates.at[i].bug, xasprintf("no cure could be tried: %s", err.msg));
	} else {
		tell_effort(c);
	}
	fix_judge_release(&c->judge); /* its processes end now, not after --verify */
	crash_setup_end(&c->setup);
}

struct fix_cures *fixing_cure(struct fixing *f, struct repair_bug **bugs)
{
	struct fix_cures *c = xcalloc(1, sizeof *c);
	const char *replay = NULL, *why = NULL;

	c->f = f;
	c->bugs = bugs;
	c->start_ns = clock_ns();
	for (size_t i = 0; !f->no_whatif && i < report_nbugs(f->report); i++)
		if (is_candidate(report_bug(f->report, i)))
			*vec_add(&c->candidates) = (struct candidate){ .bug = i };
	if (c->candidates.n == 0)
		return c;
	replay = report_bug(f->report, c->candidates.at[0].bug)->crash->replay;
	if (read_replay(c, replay, &why))
		try_trace(c);
	for (size_t i = 0; why && i < c->candidates.n; i++)
		decline(c, c->candidates.at[i].bug, xstrdup(why));
	return c;
}

void fix_cures_free(struct fix_cures *c)
{
	plan_free(c->plan);
	whatif_release(&c->whatif);
	fix_places_release(&c->places);
	runner_command_free(c->replay);
	free(c->argv);
	for (size_t i = 0; i < c->lists.n; i++)
		free(c->lists.at[i]);
	for (size_t i = 0; i < c->texts.n; i++)
		free(c->texts.at[i]);
	vec_release(&c->lists);
	vec_release(&c->texts);
	vec_release(&c->candidates);
	free(c);
}
