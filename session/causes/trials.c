/* Decides which findings have one cause, by supposing the cure of one and looking for the other. What a walk over the trace told of a cure is kept: a cure is supposed once for all findings that
 * it is compared with. */
#include "session/causes/trials.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "crash/cure_trial.h"
#include "report/causes.h"
#include "session/causes/place.h"
#include "util/alloc.h"

#define RUNS_OF_BUG 60u	 /* of recovery, on average */
#define RUNS_LEAST 40u	 /* however few the exploration took: a small one is over at once */

enum gone { GONE_UNASKED = -2, GONE_UNDECIDED = -1, GONE_NOT, GONE };

/* What is known of a cure. */
struct supposed {
	struct cause_cure cure;
	int8_t *by_recovery, *by_oracles; /* enum gone, for each finding */
	size_t n;
};

struct relation {
	size_t i, k;
};

struct trials {
	const struct report *report;
	const struct trace *trace;
	const struct facts *facts;
	struct crash_setup *setup;
	struct classes classes;
	VEC(struct relation) relations;
	VEC(struct supposed) supposed;
	struct cure_trial crash;
	bool is_begun, is_impossible; /* recovery was, and cannot be, run */
	uint64_t left;		      /* runs */
	uint32_t *places;	      /* by site: as the present whatif numbers them */
};

/* ---- findings ---- */

static bool is_kind(const struct bug *b, const char *kind)
{
	return strcmp(b->kind, kind) == 0;
}

static const struct bug *bug_of(const struct trials *t, size_t i)
{
	return report_draft(t->report, i);
}

static bool is_race(const struct bug *b)
{
	return b->nlocations > 0 && place_is(&b->locations[0], "read");
}

/* Recovery showed it; what oracles found, and a crash confirmed, they found. */
static bool is_by_recovery(const struct bug *b)
{
	return b->crash && (place_find(b, "lost") || place_find(b, "survived") || place_find(b, "crash") || is_race(b));
}

static const struct bug_location *earlier_of(const struct bug_location *a, const struct bug_location *b)
{
	if (!a || !b)
		return a ? a : b;
	return b->seq && b->seq < a->seq ? b : a;
}

/* Where its windows begin. What fails with nothing lost begins with what survived. */
static const struct bug_location *first_place(const struct bug *b)
{
	const struct bug_location *store = place_store(b), *survived = place_find(b, "survived");

	return b->crash && b->crash->is_whole ? earlier_of(survived, store) : store ? store : survived;
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

/* ---- cures ---- */

void cause_cure_add(struct cause_cure *c, uint32_t place)
{
	for (size_t i = 0; i < c->nof; i++)
		if (c->of[i] == place)
			return;
	if (place && c->nof < CAUSE_CURE_PLACES)
		c->of[c->nof++] = place;
}

static bool has_place(const struct cause_cure *c, uint32_t place)
{
	for (size_t i = 0; i < c->nof; i++)
		if (c->of[i] == place)
			return true;
	return false;
}

static bool is_same_cure(const struct cause_cure *a, const struct cause_cure *b)
{
	if (a->kind != b->kind || a->nof != b->nof || a->after != b->after || a->before != b->before || a->first != b->first || a->last != b->last)
		return false;
	for (size_t i = 0; i < a->nof; i++)
		if (!has_place(b, a->of[i]))
			return false;
	return true;
}

static bool is_same_place(const struct cause_cure *a, const struct cause_cure *b)
{
	for (size_t i = 0; i < a->nof; i++)
		if (!has_place(b, a->of[i]))
			return false;
	return a->kind != CAUSE_CURE_ATOMIC && b->kind != CAUSE_CURE_ATOMIC;
}

static void cure_atomic(struct cause_cure *c, const struct trials *t, const struct bug *b)
{
	const struct bug_location *lost = place_find(b, "lost"), *survived = place_find(b, "survived"), *first = earlier_of(survived, lost);

	if (!lost || !survived || !lost->seq || !survived->seq)
		return;
	c->kind = CAUSE_CURE_ATOMIC;
	cause_cure_add(c, classes_of(&t->classes, lost->site));
	cause_cure_add(c, classes_of(&t->classes, survived->site));
	c->first = classes_of(&t->classes, first->site);
	c->last = classes_of(&t->classes, (first == lost ? survived : lost)->site);
}

/* The fence comes directly after the flush, which follows the store in the list. */
static void cure_fence(struct cause_cure *c, const struct trials *t, const struct bug *b)
{
	const struct bug_location *flush = place_find(b, "flush");
	const uint32_t place = flush ? classes_of(&t->classes, flush->site) : 0;

	c->kind = CAUSE_CURE_FENCE;
	c->after = place;
}

void cause_cure_of(struct cause_cure *c, const struct trials *t, size_t i)
{
	const struct bug *b = bug_of(t, i);
	const enum lack lack = place_lack(b);

	*c = (struct cause_cure){ 0 };
	if (is_kind(b, "atomicity")) {
		cure_atomic(c, t, b);
		return;
	}
	add_store_places(c, t, i);
	if (is_kind(b, "tx-missing-add"))
		c->kind = CAUSE_CURE_LOG;
	else if (lack == LACKS_FENCE)
		cure_fence(c, t, b);
	else if (lack == LACKS_FLUSH || is_kind(b, "tx-store-outside") || is_race(b))
		c->kind = CAUSE_CURE_CALL;
	if (c->nof == 0)
		c->kind = CAUSE_CURE_NONE;
}

/* ---- from a cure to what is supposed ---- */

enum { ROLE_OF = 1, ROLE_WHERE, ROLE_BOTH };

static void number_places(struct trials *t, const struct cause_cure *c)
{
	const uint32_t where = c->after ? c->after : c->before;

	for (size_t i = 0; i < t->classes.by_site.n; i++) {
		const uint32_t class = t->classes.by_site.at[i];

		t->places[i] = !class ? 0 : (has_place(c, class) ? ROLE_OF : 0) | (class == where ? ROLE_WHERE : 0);
	}
}

static int compare_touches(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* All events of a class, in order. */
static void list_touches(const struct trials *t, uint32_t class, touches *out)
{
	for (uint32_t site = 0; class && site < t->classes.by_site.n; site++) {
		const touches *list = facts_of(t->facts, site);

		for (size_t i = 0; t->classes.by_site.at[site] == class && i < list->n; i++)
			*vec_add(out) = list->at[i];
	}
	if (out->n > 1)
		qsort(out->at, out->n, sizeof *out->at, compare_touches);
}

/* From each time that the first place is come to, to the next time that the last one is, by the same thread and without an acknowledgement between. */
static void suppose_intervals(const struct trials *t, const struct cause_cure *c, struct whatif *w)
{
	touches first = { 0 }, last = { 0 };
	uint64_t end = 0;

	list_touches(t, c->first, &first);
	list_touches(t, c->last, &last);
	for (size_t i = 0, k = 0; i < first.n; i++) {
		const struct touch *a = &first.at[i];
		const uint64_t acknowledged = facts_next_acknowledgement(t->facts, a->seq);

		if (a->seq <= end)
			continue;
		while (k < last.n && (last.at[k].seq <= a->seq || last.at[k].stream != a->stream || last.at[k].thread != a->thread))
			k++;
		if (k == last.n || last.at[k].seq > acknowledged)
			continue;
		end = last.at[k].seq;
		*vec_add(&w->intervals) = (struct whatif_interval){ a->stream, a->thread, a->seq, end };
	}
	*vec_add(&w->named) = ROLE_OF;
	vec_release(&first);
	vec_release(&last);
}

static void suppose(struct trials *t, const struct cause_cure *c, struct whatif *w)
{
	number_places(t, c);
	*w = (struct whatif){ .places = t->places, .nplaces = t->classes.by_site.n };
	if (c->kind == CAUSE_CURE_CALL || c->kind == CAUSE_CURE_FENCE) {
		const uint32_t where = !c->after && !c->before ? ROLE_OF : has_place(c, c->after ? c->after : c->before) ? ROLE_BOTH : ROLE_WHERE;

		*vec_add(&w->calls) = (struct whatif_call){ .after = c->before ? 0 : where,
							    .before = c->before ? where : 0,
							    .of = { ROLE_OF, ROLE_BOTH },
							    .is_fence = c->kind == CAUSE_CURE_FENCE };
	}
	if (c->kind == CAUSE_CURE_ATOMIC)
		suppose_intervals(t, c, w);
	else if (c->kind == CAUSE_CURE_LOG)
		*vec_add(&w->logged) = ROLE_OF;
}

/* ---- windows ---- */

static void add_window(struct cure_trial_finding *f, uint64_t first_seq, uint64_t last_seq)
{
	if (f->nwindows < CURE_TRIAL_WINDOWS)
		f->windows[f->nwindows++] = (struct cure_trial_window){ first_seq, last_seq };
}

/* The first time, the last, and one in the middle: from the event to the next acknowledgement. */
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

/* False: it is none of this trace, so that it cannot be looked for. lost: takes its places, which the finding borrows. */
static bool find_windows(const struct trials *t, size_t i, struct cure_trial_finding *f, struct cause_cure *lost)
{
	const struct bug *b = bug_of(t, i);
	const struct bug_location *first = first_place(b);

	*f = (struct cure_trial_finding){ .classes = t->classes.by_site.at, .nclasses = t->classes.by_site.n };
	*lost = (struct cause_cure){ 0 };
	if (!is_by_recovery(b) || !(b->crash && b->crash->is_whole))
		add_store_places(lost, t, i);
	f->places = lost->of;
	f->nplaces = lost->nof;
	f->outcome = !is_by_recovery(b) || is_race(b) ? NULL : b->crash->endings ? b->crash->endings : b->crash->outcome;
	f->is_read = is_race(b);
	if (is_by_recovery(b) && !b->crash->seq)
		return false;
	if (is_by_recovery(b)) {
		const uint64_t from = first && first->seq && first->seq < b->crash->seq ? first->seq + 1 : b->crash->seq;

		add_window(f, from, facts_next_acknowledgement(t->facts, b->crash->seq));
	}
	add_instances(t, f, first ? classes_of(&t->classes, first->site) : 0);
	return f->nwindows > 0;
}

/* ---- by recovery ---- */

static bool begin_crash(struct trials *t)
{
	struct error err;

	if (!t->is_begun && t->setup && t->setup->plan && !t->setup->shard.of)
		t->is_impossible = cure_trial_init(&t->crash, t->setup->plan, &t->setup->explored, &err) < 0;
	else if (!t->is_begun)
		t->is_impossible = true;
	t->is_begun = true;
	return !t->is_impossible;
}

static bool is_related(const struct trials *t, size_t i, size_t k)
{
	for (size_t n = 0; n < t->relations.n; n++)
		if ((t->relations.at[n].i == i && t->relations.at[n].k == k) || (t->relations.at[n].i == k && t->relations.at[n].k == i))
			return true;
	return i == k;
}

struct walk_list {
	VEC(struct cure_trial_finding) findings;
	VEC(size_t) numbers;
	struct cause_cure *lost; /* one for each: what findings borrow */
};

/* One walk for the findings in the list that are not known yet. */
static void walk_with(struct trials *t, struct supposed *s, struct walk_list *list)
{
	const uint64_t nbefore = trials_nruns(t), max_runs = t->left;
	struct logged logged = { 0 };
	struct whatif w;
	struct error err;
	int decided;

	suppose(t, &s->cure, &w);
	if (s->cure.kind == CAUSE_CURE_LOG)
		logged_find(&logged, t->setup->plan, t->places, t->classes.by_site.n, (const bool[]){ false, true, false });
	decided = max_runs ? cure_trial_run(&t->crash, &w, s->cure.kind == CAUSE_CURE_LOG ? &logged : NULL, list->findings.at, list->findings.n, max_runs, &err) : 0;
	for (size_t i = 0; i < list->findings.n; i++)
		s->by_recovery[list->numbers.at[i]] = list->findings.at[i].is_found ? GONE_NOT : decided > 0 ? GONE : GONE_UNDECIDED;
	t->left -= trials_nruns(t) - nbefore < t->left ? trials_nruns(t) - nbefore : t->left;
	whatif_release(&w);
	logged_release(&logged);
}

static struct supposed *supposed_of(struct trials *t, const struct cause_cure *c)
{
	const size_t n = report_ndrafts(t->report);
	struct supposed *s = NULL;

	for (size_t i = 0; i < t->supposed.n && !s; i++)
		if (is_same_cure(&t->supposed.at[i].cure, c))
			s = &t->supposed.at[i];
	if (!s) {
		s = vec_add(&t->supposed);
		*s = (struct supposed){ .cure = *c };
	}
	if (s->n < n) { /* a cause may have been added */
		s->by_recovery = xrealloc(s->by_recovery, n, sizeof *s->by_recovery);
		s->by_oracles = xrealloc(s->by_oracles, n, sizeof *s->by_oracles);
		memset(s->by_recovery + s->n, GONE_UNASKED, n - s->n);
		memset(s->by_oracles + s->n, GONE_UNASKED, n - s->n);
		s->n = n;
	}
	return s;
}

/* Is finding i gone? Those that `owner`, whose cure it is, is compared with are looked for in the same walk; SIZE_MAX: no others are. */
static enum gone ask_recovery(struct trials *t, struct supposed *s, size_t owner, size_t i)
{
	struct walk_list list = { .lost = xcalloc(s->n, sizeof *list.lost) };

	for (size_t k = 0; k < s->n && s->by_recovery[i] == GONE_UNASKED; k++) {
		struct cure_trial_finding f;

		if (s->by_recovery[k] != GONE_UNASKED || (k != i && (owner == SIZE_MAX || !is_related(t, owner, k))))
			continue;
		if (!begin_crash(t) || !find_windows(t, k, &f, &list.lost[k])) {
			s->by_recovery[k] = GONE_UNDECIDED;
			continue;
		}
		*vec_add(&list.findings) = f;
		*vec_add(&list.numbers) = k;
	}
	if (list.findings.n > 0)
		walk_with(t, s, &list);
	vec_release(&list.findings);
	vec_release(&list.numbers);
	free(list.lost);
	return (enum gone)s->by_recovery[i];
}

/* ---- by oracles ---- */

static bool is_missing(const char *kind)
{
	return strncmp(kind, "missing-", 8) == 0;
}

/* What is missing may be called otherwise when a part of it is there. */
static bool is_found_by(const struct trials *t, size_t i, const struct check *c)
{
	const struct bug *b = bug_of(t, i);
	struct cause_cure own = { 0 };

	add_store_places(&own, t, i);
	if (own.nof == 0 && b->nlocations > 0)
		cause_cure_add(&own, classes_of(&t->classes, b->locations[0].site));
	for (size_t k = 0; k < check_nfindings(c); k++) {
		const struct finding *f = check_finding(c, k);

		if (!f->is_cut && (strcmp(f->kind, b->kind) == 0 || (is_missing(f->kind) && is_missing(b->kind))) && f->places[0].site &&
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

static void ask_all_oracles(struct trials *t, struct supposed *s)
{
	const struct check_options o = { .platform = platform_of(t) };
	struct error err;
	struct check *c = o.platform ? check_new(&o, &err) : NULL;
	struct whatif w;

	memset(s->by_oracles, GONE_UNDECIDED, s->n);
	if (!c)
		return;
	suppose(t, &s->cure, &w);
	feed(c, t, &w);
	check_finish(c);
	if (check_wants_again(c)) {
		check_again(c);
		feed(c, t, &w);
		check_finish_again(c);
	}
	for (size_t i = 0; i < s->n; i++)
		s->by_oracles[i] = is_found_by(t, i, c) ? GONE_NOT : GONE;
	whatif_release(&w);
	check_free(c);
}

static enum gone ask_oracles(struct trials *t, struct supposed *s, size_t i)
{
	if (s->by_oracles[i] == GONE_UNASKED)
		ask_all_oracles(t, s);
	return (enum gone)s->by_oracles[i];
}

/* ---- answers ---- */

static enum gone ask_gone(struct trials *t, const struct cause_cure *c, size_t owner, size_t i)
{
	struct supposed *s;

	if (c->kind == CAUSE_CURE_NONE)
		return GONE_UNDECIDED;
	s = supposed_of(t, c);
	return is_by_recovery(bug_of(t, i)) ? ask_recovery(t, s, owner, i) : ask_oracles(t, s, i);
}

/* The other way round: is the cause gone if finding i alone is mended? What recovery shows is compared by what recovery shows, whoever else found the cause. */
static enum gone ask_reverse(struct trials *t, const struct cause_cure *own, size_t i, size_t cause)
{
	struct supposed *s = supposed_of(t, own);

	/* It is not in the report: is anything left that it would explain? */
	for (size_t k = 0; cause == SIZE_MAX && k < s->n; k++)
		if (k != i && is_related(t, i, k) && ask_gone(t, own, SIZE_MAX, k) != GONE)
			return GONE_NOT;
	if (cause == SIZE_MAX)
		return GONE;
	return is_by_recovery(bug_of(t, i)) && !t->is_impossible ? ask_recovery(t, s, SIZE_MAX, cause) : ask_oracles(t, s, cause);
}

enum trial_answer trials_ask(struct trials *t, const struct cause_cure *c, size_t cause, size_t i)
{
	const enum gone gone = ask_gone(t, c, cause == SIZE_MAX ? i : cause, i);
	struct cause_cure own;
	enum gone with_own;

	if (gone != GONE)
		return gone == GONE_NOT ? TRIAL_OTHER : TRIAL_MAY;
	cause_cure_of(&own, t, i);
	if (own.kind == CAUSE_CURE_NONE || is_same_place(&own, c)) /* of one statement: what mends the cause mends both */
		return TRIAL_SAME;
	with_own = ask_gone(t, &own, SIZE_MAX, i); /* most often one failing state answers it */
	if (with_own != GONE)
		return with_own == GONE_NOT ? TRIAL_SAME : TRIAL_MAY;
	return ask_reverse(t, &own, i, cause) == GONE ? TRIAL_SAME : TRIAL_MAY;
}

enum trial_answer trials_ask_joint(struct trials *t, const struct cause_cure *c, const size_t *list, size_t n)
{
	enum trial_answer answer = TRIAL_SAME;

	for (size_t i = 0; i < n && answer != TRIAL_OTHER; i++) {
		const enum gone gone = ask_gone(t, c, SIZE_MAX, list[i]);

		answer = gone == GONE ? answer : gone == GONE_NOT ? TRIAL_OTHER : TRIAL_MAY;
	}
	return answer;
}

/* ---- all ---- */

void trials_relate(struct trials *t, size_t i, size_t k)
{
	if (!is_related(t, i, k))
		*vec_add(&t->relations) = (struct relation){ i, k };
}

uint32_t trials_class(const struct trials *t, uint32_t site)
{
	return classes_of(&t->classes, site);
}

uint64_t trials_nruns(const struct trials *t)
{
	return cure_trial_nruns(&t->crash);
}

/* Never more than the exploration took. */
static uint64_t runs_allowed(const struct report *r)
{
	const struct report_coverage *c = report_coverage(r);
	const uint64_t all = report_ndrafts(r) * RUNS_OF_BUG, most = c && c->runs < all ? c->runs : all;

	return most < RUNS_LEAST ? RUNS_LEAST : most;
}

struct trials *trials_new(const struct report *r, const struct trace *trace, const struct facts *f, struct locator *l, struct crash_setup *setup)
{
	struct trials *t = xcalloc(1, sizeof *t);

	*t = (struct trials){ .report = r, .trace = trace, .facts = f, .setup = setup, .left = runs_allowed(r) };
	classes_find(&t->classes, f, l);
	t->places = xcalloc(t->classes.by_site.n + 1, sizeof *t->places);
	return t;
}

void trials_free(struct trials *t)
{
	for (size_t i = 0; i < t->supposed.n; i++) {
		free(t->supposed.at[i].by_recovery);
		free(t->supposed.at[i].by_oracles);
	}
	if (t->is_begun)
		cure_trial_release(&t->crash);
	classes_release(&t->classes);
	vec_release(&t->supposed);
	vec_release(&t->relations);
	free(t->places);
	free(t);
}
