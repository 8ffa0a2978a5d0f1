/* Supposes cures of findings in a trace, and looks which other findings are left. All supposed
 * cures together are one change of the trace, so one walk answers for all findings. */
#include "account/causes/trials.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "crash/cure_trial.h"
#include "report/causes.h"
#include "account/causes/place.h"
#include "util/alloc.h"
#include "report/bug.h"
#include "account/causes/facts.h"

/* Runs of recovery for explaining and trials together, per bug. */
#define RUNS_OF_BUG 200u
/* Runs for trials alone, per finding and per bug, whatever explaining took, if the trials decide
 * what is counted. With fewer runs, most findings of a small exploration could not be listed under
 * their cause. */
#define RUNS_OF_FINDING 10u
#define TRIALS_OF_BUG 50u
/* So many times as many if a log is written too late: most states fail then, and each of them takes
 * five runs (cure_trial.c). */
#define LATE_FACTOR 16u

struct trials {
	const struct report *report;
	const struct trace *trace;
	const struct facts *facts;
	struct crash_setup *setup;
	struct classes classes;
	VEC(struct cause_cure) supposed;
	VEC(struct whatif_flush) flushes; /* supposed flushes */
	struct cure_trial crash;
	/* whether recovery was prepared, and whether it cannot be run */
	bool is_begun, is_impossible;
	bool is_deciding;
	/* runs before the trials: of the exploration, and for explaining its findings */
	uint64_t explored, spent;
};

/* ---- findings ---- */

static const struct bug *bug_of(const struct trials *t, size_t i)
{
	return report_draft(t->report, i);
}

static bool is_race(const struct bug *b)
{
	return b->nlocations > 0 && place_is(&b->locations[0], "read");
}

bool trials_is_by_recovery(const struct bug *b)
{
	return b->crash && (place_find(b, "lost") || place_find(b, "survived") ||
			    place_find(b, "crash") || is_race(b));
}

bool trials_has_crash(const struct bug *b)
{
	return trials_is_by_recovery(b) || (b->crash && b->crash->seq && place_store(b));
}

static bool asks_recovery(const struct trials *t, const struct trial_question *q)
{
	return q->is_by_crash || trials_is_by_recovery(bug_of(t, q->finding));
}

static const struct bug_location *earlier_of(const struct bug_location *a,
					     const struct bug_location *b)
{
	if (!a || !b)
		return a ? a : b;
	return b->seq && b->seq < a->seq ? b : a;
}

/* Gives the place where the finding's windows begin. If nothing is lost, it is the place of the
 * store that survived. */
static const struct bug_location *first_place(const struct bug *b)
{
	const struct bug_location *store = place_store(b), *survived = place_find(b, "survived");

	return b->crash && b->crash->is_whole ? earlier_of(survived, store)
	       : store                        ? store
					      : survived;
}

static void add_store_places(struct cause_cure *c, const struct trials *t, size_t i)
{
	const struct bug *b = bug_of(t, i);
	const struct bug_location *store = place_store(b);

	if (!store)
		return;
	cause_cure_add(c, classes_of(&t->classes, store->site));
	for (size_t k = 0; store == &b->locations[0] && k < report_draft_nsites(t->report, i); k++)
		cause_cure_add(c, classes_of(&t->classes, report_draft_site(t->report, i, k)));
}

/* ---- cures of findings ---- */

void cause_cure_add(struct cause_cure *c, uint32_t place)
{
	for (size_t i = 0; i < c->nof; i++)
		if (c->of[i] == place)
			return;
	if (place && c->nof < WHATIF_PLACES)
		c->of[c->nof++] = place;
}

static bool has_place(const struct cause_cure *c, uint32_t place)
{
	for (size_t i = 0; i < c->nof; i++)
		if (c->of[i] == place)
			return true;
	return false;
}

bool cause_cure_is_for(const struct cause_cure *a, const struct cause_cure *b)
{
	for (size_t i = 0; i < b->nof; i++)
		if (!has_place(a, b->of[i]))
			return false;
	return true;
}

static void cure_atomic(struct cause_cure *c, const struct trials *t, const struct bug *b)
{
	const struct bug_location *lost = place_find(b, "lost"),
				  *survived = place_find(b, "survived"),
				  *first = earlier_of(survived, lost);

	if (!lost || !survived || !lost->seq || !survived->seq)
		return;
	c->kind = CAUSE_CURE_ATOMIC;
	cause_cure_add(c, classes_of(&t->classes, lost->site));
	cause_cure_add(c, classes_of(&t->classes, survived->site));
	c->first = classes_of(&t->classes, first->site);
	c->last = classes_of(&t->classes, (first == lost ? survived : lost)->site);
}

/* Makes the cure for a missing fence: a fence right after the flush, which follows the store in the
 * list. */
static void cure_fence(struct cause_cure *c, const struct trials *t, const struct bug *b)
{
	const struct bug_location *flush = place_find(b, "flush");
	const uint32_t place = flush ? classes_of(&t->classes, flush->site) : 0;

	c->kind = CAUSE_CURE_FENCE;
	c->after = place;
}

static bool is_added_late(const struct trials *t, const struct cause_cure *c)
{
	for (uint32_t site = 0; site < t->classes.by_site.n; site++)
		if (site < t->facts->is_added_late.n && t->facts->is_added_late.at[site] &&
		    has_place(c, t->classes.by_site.at[site]))
			return true;
	return false;
}

void cause_cure_of(struct cause_cure *c, const struct trials *t, size_t i)
{
	const struct bug *b = bug_of(t, i);
	const enum lack lack = place_lack(b);

	*c = (struct cause_cure){ 0 };
	if (bug_is_kind(b, "atomicity")) {
		cure_atomic(c, t, b);
		return;
	}
	if (bug_is_kind(b, "tx-not-ended") && b->nlocations > 0) {
		c->kind = CAUSE_CURE_END;
		for (size_t k = 0; k < report_draft_nsites(t->report, i); k++)
			cause_cure_add(c,
				       classes_of(&t->classes, report_draft_site(t->report, i, k)));
		cause_cure_add(c, classes_of(&t->classes, b->locations[0].site));
	} else {
		add_store_places(c, t, i);
	}
	if (bug_is_kind(b, "tx-missing-add")) {
		c->kind = CAUSE_CURE_LOG;
		c->is_added_late = is_added_late(t, c);
	} else if (lack == LACKS_FENCE)
		cure_fence(c, t, b);
	else if (lack == LACKS_FLUSH || bug_is_kind(b, "tx-store-outside") || is_race(b))
		c->kind = CAUSE_CURE_CALL;
	if (c->nof == 0)
		c->kind = CAUSE_CURE_NONE;
}

/* ---- supposing cures ---- */

/* Lists all events of a class, in order. */
static void list_touches(const struct trials *t, uint32_t class, touches *out)
{
	for (uint32_t site = 0; class && site < t->classes.by_site.n; site++) {
		const touches *list = facts_of(t->facts, site);

		for (size_t i = 0; t->classes.by_site.at[site] == class && i < list->n; i++)
			*vec_add(out) = list->at[i];
	}
	if (out->n > 1)
		qsort(out->at, out->n, sizeof *out->at, touch_order);
}

/* Gives the last event of a run of events: a statement that writes may have several events. */
static uint64_t run_end(const touches *list, size_t from)
{
	uint64_t end = list->at[from].seq;

	for (size_t i = from + 1; i < list->n && list->at[i].seq <= end + 1; i++)
		end = list->at[i].seq;
	return end;
}

/* Supposes an atomic interval for each time that the thread goes from the first place to the next
 * occurrence of the last place, without an acknowledgement in between. */
static void suppose_intervals(const struct trials *t, const struct cause_cure *c, struct whatif *w)
{
	touches first = { 0 }, last = { 0 };
	uint64_t end = 0;

	list_touches(t, c->first, &first);
	list_touches(t, c->last, &last);
	for (size_t i = 0, k = 0; i < first.n; i++) {
		const struct touch *a = &first.at[i];
		const uint64_t acknowledged = facts_next_acknowledgement(t->facts, a->seq),
			       begun = c->first == c->last ? run_end(&first, i) : a->seq;

		if (a->seq <= end)
			continue;
		while (k < last.n && (last.at[k].seq <= a->seq || last.at[k].stream != a->stream ||
				      last.at[k].thread != a->thread))
			k++;
		if (begun == a->seq && (k == last.n || last.at[k].seq > acknowledged))
			continue;
		end = begun > a->seq ? begun : run_end(&last, k);
		*vec_add(&w->intervals) =
			(struct whatif_interval){ a->stream, a->thread, a->seq, end };
	}
	for (size_t i = 0; i < c->nof; i++)
		*vec_add(&w->named) = c->of[i];
	vec_release(&first);
	vec_release(&last);
}

static void add_call(struct whatif *w, const struct cause_cure *c)
{
	struct whatif_call call = { .after = c->after,
				    .before = c->before,
				    .is_fence = c->kind == CAUSE_CURE_FENCE };

	memcpy(call.of, c->of, sizeof call.of);
	*vec_add(&w->calls) = call;
}

/* Are all stores for which the call is meant in supposed atomic changes? A call would make them
 * durable too early. */
static bool is_withheld(const struct whatif *w, const struct cause_cure *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nof; i++)
		for (size_t k = 0; k < w->named.n; k++)
			if (w->named.at[k] == c->of[i]) {
				n++;
				break;
			}
	return c->nof > 0 && n == c->nof;
}

static void suppose(const struct trials *t, const struct cause_cure *c, struct whatif *w)
{
	switch (c->kind) {
	case CAUSE_CURE_NONE: break;
	case CAUSE_CURE_CALL:
	case CAUSE_CURE_FENCE:
		if (is_withheld(w, c))
			break;
		if (c->after || c->before)
			add_call(w, c);
		for (size_t i = 0; !c->after && !c->before && i < c->nof; i++)
			add_call(w, &(struct cause_cure){ .kind = c->kind,
							  .of = { c->of[i] },
							  .after = c->of[i] });
		break;
	case CAUSE_CURE_ATOMIC: suppose_intervals(t, c, w); break;
	case CAUSE_CURE_LOG:
		for (size_t i = 0; i < c->nof; i++)
			*vec_add(&w->logged) = c->of[i];
		break;
	case CAUSE_CURE_END:
		for (size_t i = 0; i < c->nof; i++)
			*vec_add(&w->ended) = c->of[i];
		break;
	}
}

static void suppose_all(const struct trials *t, struct whatif *w)
{
	*w = (struct whatif){ .places = t->classes.by_site.at, .nplaces = t->classes.by_site.n };
	for (int is_call = 0; is_call < 2; is_call++)
		for (size_t i = 0; i < t->supposed.n; i++)
			if ((t->supposed.at[i].kind != CAUSE_CURE_ATOMIC) == is_call)
				suppose(t, &t->supposed.at[i], w);
	for (size_t i = 0; i < t->flushes.n; i++)
		*vec_add(&w->flushes) = t->flushes.at[i];
}

/* ---- windows ---- */

static void add_window(struct cure_trial_finding *f, uint64_t first_seq, uint64_t last_seq)
{
	if (f->nwindows < CURE_TRIAL_WINDOWS)
		f->windows[f->nwindows++] = (struct cure_trial_window){ first_seq, last_seq };
}

/* Adds the windows of three occurrences: the first, the last, and one in the middle. Each goes from
 * the event to the next acknowledgement. */
static void add_instances(const struct trials *t, struct cure_trial_finding *f, uint32_t class)
{
	touches all = { 0 };

	list_touches(t, class, &all);
	for (int i = 0; i < 3 && all.n > 0; i++) {
		const uint64_t seq = all.at[i == 0 ? 0 : i == 1 ? all.n / 2 : all.n - 1].seq;

		add_window(f, seq + 1, facts_next_acknowledgement(t->facts, seq));
	}
	vec_release(&all);
}

/* Describes a finding for recovery. False: it does not belong to this trace, so it cannot be tried.
 * lost: gets the places, which the finding borrows. */
static bool find_windows(const struct trials *t, size_t i, struct cure_trial_finding *f,
			 struct cause_cure *lost)
{
	const struct bug *b = bug_of(t, i);
	const struct bug_location *first = first_place(b);

	*f = (struct cure_trial_finding){ .classes = t->classes.by_site.at,
					  .nclasses = t->classes.by_site.n };
	*lost = (struct cause_cure){ 0 };
	if (!trials_is_by_recovery(b) || !(b->crash && b->crash->is_whole))
		add_store_places(lost, t, i);
	f->places = lost->of;
	f->nplaces = lost->nof;
	f->outcome = !trials_is_by_recovery(b) || is_race(b) ? NULL
		     : b->crash->endings                     ? b->crash->endings
							     : b->crash->outcome;
	f->is_read = is_race(b);
	if (trials_is_by_recovery(b) && !b->crash->seq)
		return false;
	if (trials_has_crash(b)) {
		const uint64_t from = first && first->seq && first->seq < b->crash->seq
					      ? first->seq + 1
					      : b->crash->seq;

		add_window(f, from, facts_next_acknowledgement(t->facts, b->crash->seq));
	}
	add_instances(t, f, first ? classes_of(&t->classes, first->site) : 0);
	return f->nwindows > 0;
}

/* ---- asking recovery ---- */

static bool begin_crash(struct trials *t)
{
	struct error err;

	if (!t->is_begun && t->setup && t->setup->plan && !t->setup->shard.of)
		t->is_impossible =
			cure_trial_init(&t->crash, t->setup->plan, &t->setup->explored, &err) < 0;
	else if (!t->is_begun)
		t->is_impossible = true;
	t->is_begun = true;
	return !t->is_impossible;
}

/* The findings that recovery is asked about. */
struct sought {
	VEC(struct cure_trial_finding) findings;
	VEC(size_t) at;          /* index in the list */
	struct cause_cure *lost; /* places that the findings borrow */
};

static void find_logged(const struct trials *t, const struct whatif *w, struct logged *out)
{
	bool *is_wanted = xcalloc(t->classes.n + 1, sizeof *is_wanted);

	for (size_t i = 0; i < w->logged.n; i++)
		is_wanted[w->logged.at[i]] = true;
	if (w->logged.n > 0)
		logged_find(out, t->setup->plan, t->classes.by_site.at, t->classes.by_site.n,
			    is_wanted);
	free(is_wanted);
}

/* Counts the bugs so far; at least these will be reported. */
static size_t count_bugs(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < report_ndrafts(r); i++)
		n += report_cause(r, i) == i && report_draft(r, i)->severity == BUG_CORRECTNESS;
	return n;
}

/* Gives how many more runs trials may use. Explaining and trials together use no more than the
 * exploration did, and no more than a number per bug. Explaining comes first; trials get what it
 * left, but always some runs per finding. Nothing of this depends on who explored what. */
static uint64_t runs_left(const struct trials *t)
{
	const uint64_t factor = t->crash.is_logged_late ? LATE_FACTOR : 1,
		       of_findings = report_ndrafts(t->report) * RUNS_OF_FINDING * factor,
		       nbugs = count_bugs(t->report), of_bugs = nbugs * RUNS_OF_BUG,
		       few = nbugs * TRIALS_OF_BUG * factor,
		       least = !t->is_deciding     ? 0
			       : of_findings < few ? of_findings
						   : few,
		       most = t->explored < of_bugs ? t->explored : of_bugs,
		       rest = most > t->spent ? most - t->spent : 0,
		       allowed = rest > least ? rest : least, had = trials_nruns(t);

	return had < allowed ? allowed - had : 0;
}

static void walk_for(struct trials *t, const struct whatif *w, struct sought *s,
		     enum trial_answer *answers)
{
	struct logged logged = { 0 };
	uint64_t max_runs;
	struct error err;
	int decided;

	find_logged(t, w, &logged);
	t->crash.is_logged_late = false;
	for (size_t i = 0; i < t->supposed.n; i++)
		t->crash.is_logged_late |= t->supposed.at[i].is_added_late;
	max_runs = runs_left(t);
	decided = max_runs ? cure_trial_run(&t->crash, w, w->logged.n ? &logged : NULL,
					    s->findings.at, s->findings.n, max_runs, &err)
			   : 0;
	for (size_t i = 0; i < s->findings.n; i++)
		answers[s->at.at[i]] = s->findings.at[i].is_found                 ? TRIAL_LEFT
				       : decided > 0 && !s->findings.at[i].is_cut ? TRIAL_GONE
										  : TRIAL_UNDECIDED;
	logged_release(&logged);
}

static void ask_recovery(struct trials *t, const struct whatif *w,
			 const struct trial_question *list, size_t n, enum trial_answer *answers)
{
	struct sought s = { .lost = xcalloc(n + 1, sizeof *s.lost) };

	for (size_t i = 0; i < n; i++) {
		struct cure_trial_finding f;

		if (!asks_recovery(t, &list[i]) || !begin_crash(t) ||
		    !find_windows(t, list[i].finding, &f, &s.lost[i]))
			continue;
		f.is_any = list[i].is_any && f.outcome;
		*vec_add(&s.findings) = f;
		*vec_add(&s.at) = i;
	}
	if (s.findings.n > 0)
		walk_for(t, w, &s, answers);
	vec_release(&s.findings);
	vec_release(&s.at);
	free(s.lost);
}

/* ---- asking oracles ---- */

static bool is_missing(const char *kind)
{
	return strncmp(kind, "missing-", 8) == 0;
}

/* Does the check of the changed trace still report finding i? Its kind may change when a part of
 * what it lacks is there. */
static bool is_found_by(const struct trials *t, size_t i, const struct check *c)
{
	const struct bug *b = bug_of(t, i);
	struct cause_cure own = { 0 };

	add_store_places(&own, t, i);
	if (own.nof == 0 && b->nlocations > 0)
		cause_cure_add(&own, classes_of(&t->classes, b->locations[0].site));
	for (size_t k = 0; k < check_nfindings(c); k++) {
		const struct finding *f = check_finding(c, k);

		if (!f->is_cut &&
		    (strcmp(f->kind, b->kind) == 0 ||
		     (is_missing(f->kind) && is_missing(b->kind))) &&
		    f->places[0].site &&
		    has_place(&own, classes_of(&t->classes, f->places[0].site->id)))
			return true;
	}
	return false;
}

static void feed(struct check *c, const struct trials *t, const struct whatif *w)
{
	struct trace *trace = trace_cursor(t->trace);
	struct rewriter *r = rewriter_new(w, trace);
	enum whatif_mark mark;
	struct trace_event ev;

	while (rewriter_next(r, &ev, &mark))
		check_event(c, &ev);
	rewriter_free(r);
	trace_close(trace);
}

static const struct platform *platform_of(const struct trials *t)
{
	return report_platform(t->report) ? platform_find(report_platform(t->report)) : NULL;
}

static void ask_oracles(struct trials *t, const struct whatif *w, const struct trial_question *list,
			size_t n, enum trial_answer *answers)
{
	const struct check_options o = { .platform = platform_of(t) };
	struct error err;
	struct check *c = o.platform ? check_new(&o, &err) : NULL;

	if (!c)
		return;
	feed(c, t, w);
	check_finish(c);
	if (check_wants_again(c)) {
		check_again(c);
		feed(c, t, w);
		check_finish_again(c);
	}
	for (size_t i = 0; i < n; i++)
		if (!asks_recovery(t, &list[i]))
			answers[i] = is_found_by(t, list[i].finding, c) ? TRIAL_LEFT : TRIAL_GONE;
	check_free(c);
}

static bool has_oracles_finding(const struct trials *t, const struct trial_question *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!asks_recovery(t, &list[i]))
			return true;
	return false;
}

/* ---- the trial ---- */

void trials_decide(struct trials *t, bool is_deciding)
{
	t->is_deciding = is_deciding;
}

void trials_suppose(struct trials *t, const struct cause_cure *c)
{
	*vec_add(&t->supposed) = *c;
}

void trials_suppose_flushes(struct trials *t, const struct whatif_flush *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*vec_add(&t->flushes) = list[i];
}

void trials_suppose_nothing(struct trials *t)
{
	t->supposed.n = t->flushes.n = 0;
}

void trials_look(struct trials *t, const struct trial_question *list, size_t n,
		 enum trial_answer *answers)
{
	struct whatif w;

	for (size_t i = 0; i < n; i++)
		answers[i] = TRIAL_UNDECIDED;
	suppose_all(t, &w);
	if (has_oracles_finding(t, list, n))
		ask_oracles(t, &w, list, n, answers);
	w.forgets = true;
	ask_recovery(t, &w, list, n, answers);
	whatif_release(&w);
}

uint32_t trials_class(const struct trials *t, uint32_t site)
{
	return classes_of(&t->classes, site);
}

uint64_t trials_nruns(const struct trials *t)
{
	return cure_trial_nruns(&t->crash);
}

struct trials *trials_new(const struct report *r, const struct trace *trace, const struct facts *f,
			  struct locator *l, struct crash_setup *setup)
{
	const struct report_coverage *c = report_coverage(r);
	struct trials *t = xcalloc(1, sizeof *t);

	*t = (struct trials){ .report = r,
			      .trace = trace,
			      .facts = f,
			      .setup = setup,
			      .is_deciding = true,
			      .explored = c ? c->runs + c->shared_runs : 0,
			      .spent = c ? c->explaining_runs : 0 };
	classes_find(&t->classes, f, l);
	return t;
}

void trials_free(struct trials *t)
{
	if (t->is_begun)
		cure_trial_release(&t->crash);
	classes_release(&t->classes);
	vec_release(&t->supposed);
	vec_release(&t->flushes);
	free(t);
}
