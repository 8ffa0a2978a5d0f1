/* Groups findings that have one cause. Transactions come first (transactions.c), because what they explain looks like many other bugs. Then comes what one flush, one fence
 * or one atomic change would fix (the table below). Each rule compares two findings. A finding that has found its cause is not compared any more. */
#include "session/causes/causes.h"

#include <string.h>

#include "report/causes.h"
#include "session/causes/facts.h"
#include "session/causes/place.h"
#include "session/causes/transactions.h"
#include "session/causes/trials.h"

static bool is_kind(const struct bug *b, const char *kind)
{
	return strcmp(b->kind, kind) == 0;
}

/* ---- rules: does the first explain the second? ---- */

typedef bool rule_fn(const struct facts *f, const struct bug *cause, const struct bug *b);

static bool same_store(const struct bug *a, const struct bug *b)
{
	const struct bug_location *x = place_store(a), *y = place_store(b);

	return x && y && place_same(x, y);
}

/* The same store is not durable, whatever survives it, whoever reads it. */
static bool is_same_loss(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	(void)f;
	return place_lack(cause) && (place_lack(b) || is_kind(b, "cross-failure-race")) && same_store(cause, b);
}

static bool is_one_flush(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *x = place_store(cause), *y = place_store(b); /* NULL: the place is not known */

	return place_lack(cause) == LACKS_FLUSH && place_lack(b) == LACKS_FLUSH && x && y && facts_share_flush(f, x->site, y->site);
}

static bool is_one_fence(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *end = place_end(cause), *other = place_end(b), *x = place_store(cause), *y = place_store(b);

	return place_lack(cause) == LACKS_FENCE && place_lack(b) == LACKS_FENCE && end && other && x && y &&
	       facts_one_fence(f, (struct stretch){ x->site, end->site }, (struct stretch){ y->site, other->site });
}

/* The same in one function, where one call would be for the lines of all. */
static bool is_one_call(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	return is_one_flush(f, cause, b) && place_same_function(place_store(cause), place_store(b));
}

/* What must change together fails whichever of the two is lost. Of a store that is never written back, and that a crash showed, the other one may not be known. */
static bool is_same_pair(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *lost = place_find(cause, "lost"), *survived = place_find(cause, "survived");
	const struct bug_location *other = place_store(b), *partner = place_find(b, "survived");

	(void)f;
	if (!is_kind(cause, "atomicity") || !b->crash || !lost || !survived || !other || (!place_lack(b) && !is_kind(b, "atomicity")))
		return false;
	if (!partner)
		return place_same(survived, other);
	return (place_same(lost, other) && place_same(survived, partner)) || (place_same(lost, partner) && place_same(survived, other));
}

/* ---- trials: they decide, the rules only say what to try ---- */

static uint64_t store_seq(const struct bug *b)
{
	return place_store(b)->seq;
}

static void add_places(struct cause_cure *c, const struct trials *t, size_t i)
{
	struct cause_cure other;

	cause_cure_of(&other, t, i);
	for (size_t n = 0; n < other.nof; n++)
		cause_cure_add(c, other.of[n]);
}

/* One call after the later of two stores of two functions, for the lines of one. */
static enum trial_answer try_lines(struct trials *t, const struct report *r, size_t lines_of, const size_t *pair)
{
	const struct bug *a = report_draft(r, pair[0]), *b = report_draft(r, pair[1]);
	struct cause_cure c = { .kind = CAUSE_CURE_CALL, .after = trials_class(t, place_store(store_seq(a) > store_seq(b) ? a : b)->site) };

	add_places(&c, t, lines_of);
	return trials_ask_joint(t, &c, pair, 2);
}

/* Two functions each have their own lines: a call for those of the one must serve both, and so must a call for those of the other. If only one of them does, the other function lacks a call
 * of its own. */
static enum trial_answer try_one_flush(struct trials *t, const struct report *r, size_t i, size_t k)
{
	const size_t pair[] = { i, k };
	const enum trial_answer by_first = try_lines(t, r, i, pair), by_second = try_lines(t, r, k, pair);

	return by_first == by_second ? by_first : TRIAL_MAY;
}

static enum trial_answer try_cure(struct trials *t, const struct report *r, size_t i, size_t k)
{
	struct cause_cure c;

	(void)r;
	cause_cure_of(&c, t, i);
	return trials_ask(t, &c, i, k);
}

/* In this order; of two findings that explain each other, the one that stands first stays: see rank_of(). */
static const struct guess {
	rule_fn *rule;
	enum trial_answer (*try)(struct trials *t, const struct report *r, size_t i, size_t k); /* NULL: several are tried at once */
} guesses[] = { { is_same_pair, try_cure }, { is_same_loss, try_cure }, { is_one_call, NULL }, { is_one_flush, try_one_flush }, { is_one_fence, NULL } };

/* ---- windows ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Recovery fails in the same way, with nothing lost. */
static bool is_same_failure(const struct bug *a, const struct bug *b)
{
	return a->crash && b->crash && a->crash->seq && b->crash->seq && a->crash->is_whole && b->crash->is_whole && is_kind(a, b->kind) &&
	       is_same_text(a->crash->command, b->crash->command) && is_same_text(a->crash->outcome, b->crash->outcome);
}

/* The second crash comes next after the first: at the next failure point, or between the next two stores. */
static bool is_next(const struct bug *a, const struct bug *b)
{
	const struct bug_location *after = place_find(a, "lost"), *before = place_find(b, "survived");

	return b->crash->failure_point == a->crash->failure_point + 1 || (after && before && place_same(after, before));
}

/* Both are of a window that the same store closes. */
static bool is_same_end(const struct bug *a, const struct bug *b)
{
	const struct bug_location *x = place_find(a, "lost"), *y = place_find(b, "lost");

	return x && y && place_same(x, y);
}

static const char WINDOW[] = "a crash anywhere between these two stores leaves a state that recovery cannot handle, although nothing is lost";

/* From the store that opens the window to the one that closes it. */
static void set_window(struct report *r, size_t first, size_t last)
{
	const struct bug_location *close = place_find(report_draft(r, last), "lost"), *open = place_find(report_draft(r, first), "survived");
	struct bug_location both[2];

	if (!close || !open)
		return;
	both[0] = *close;
	both[1] = *open;
	report_set_locations(r, first, both, 2, WINDOW);
}

/* ---- folding ---- */

/* The stronger explanation first: what durability alone does not mend, then what is never written back, then what is late; of equals, the earlier. */
static int rank_of(const struct bug *b)
{
	static const char *const kinds[] = { "atomicity", "missing-flush-fence", "missing-flush", "missing-fence", "ordering" };
	int i = 0;

	while (i < (int)(sizeof kinds / sizeof *kinds) && !is_kind(b, kinds[i]))
		i++;
	return i;
}

/* Where a fence would do: the finding whose end comes first says where it must be. */
static uint64_t order_of(const struct bug *b)
{
	const struct bug_location *end = place_lack(b) == LACKS_FENCE ? place_end(b) : NULL;

	return end && end->seq ? end->seq : b->first_seq;
}

typedef VEC(size_t) numbers;

struct folding {
	struct report *report;
	struct trials *trials;
	const struct facts *facts;
	numbers left; /* findings without a cause, best first */
};

static bool is_before(const struct report *r, size_t a, size_t b)
{
	const struct bug *x = report_draft(r, a), *y = report_draft(r, b);

	if (bug_is_last(x) != bug_is_last(y)) /* what recovery relies on is not to be found under what it does not */
		return bug_is_last(y);
	if (rank_of(x) != rank_of(y))
		return rank_of(x) < rank_of(y);
	if (order_of(x) != order_of(y))
		return order_of(x) < order_of(y);
	return x->first_seq != y->first_seq ? x->first_seq < y->first_seq : a < b;
}

static void folding_init(struct folding *f, struct report *r, const struct facts *facts, struct trials *trials)
{
	*f = (struct folding){ .report = r, .facts = facts, .trials = trials };
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		size_t k;

		if (report_draft(r, i)->severity != BUG_CORRECTNESS || report_cause(r, i) != i)
			continue;
		*vec_add(&f->left) = i;
		for (k = f->left.n - 1; k > 0 && is_before(r, i, f->left.at[k - 1]); k--)
			f->left.at[k] = f->left.at[k - 1];
		f->left.at[k] = i;
	}
}

static void fold(struct folding *f, size_t i, size_t cause)
{
	if (report_draft(f->report, i)->crash)
		report_lend_crash(f->report, cause, report_draft(f->report, i)->crash);
	report_explain(f->report, i, cause);
}

/* NULL: no rule takes the one for the cause of the other. */
static const struct guess *guess_of(const struct folding *f, size_t i, size_t k)
{
	for (size_t n = 0; n < sizeof guesses / sizeof *guesses; n++)
		if (guesses[n].rule(f->facts, report_draft(f->report, i), report_draft(f->report, k)))
			return &guesses[n];
	return NULL;
}

/* Nothing is tried before all is related: one walk serves all that a cure is compared with. */
static void relate_all(struct folding *f)
{
	for (size_t i = 0; i < f->left.n; i++)
		for (size_t k = i + 1; k < f->left.n; k++)
			if (guess_of(f, f->left.at[i], f->left.at[k]))
				trials_relate(f->trials, f->left.at[i], f->left.at[k]);
}

static void remove_left(struct folding *f, size_t number)
{
	size_t n = 0;

	for (size_t i = 0; i < f->left.n; i++)
		if (f->left.at[i] != number)
			f->left.at[n++] = f->left.at[i];
	f->left.n = n;
}

/* One call that serves several: after the last of their stores, or before the first thing that must not overtake them. */
static enum trial_answer try_together(const struct folding *f, rule_fn *rule, const numbers *group)
{
	const bool is_fence = rule == is_one_fence;
	struct cause_cure c = { .kind = is_fence ? CAUSE_CURE_FENCE : CAUSE_CURE_CALL };
	const struct bug_location *where = NULL;

	for (size_t i = 0; i < group->n; i++) {
		const struct bug *b = report_draft(f->report, group->at[i]);
		const struct bug_location *l = is_fence ? place_end(b) : place_store(b);

		add_places(&c, f->trials, group->at[i]);
		if (!where || (is_fence ? l->seq && l->seq < where->seq : l->seq > where->seq))
			where = l;
	}
	*(is_fence ? &c.before : &c.after) = trials_class(f->trials, where->site);
	return trials_ask_joint(f->trials, &c, group->at, group->n);
}

/* Findings that one call would serve, together with the one at `at`. */
static void fold_together(struct folding *f, size_t at, rule_fn *rule)
{
	enum trial_answer answer = TRIAL_OTHER;
	numbers group = { 0 };

	*vec_add(&group) = f->left.at[at];
	for (size_t k = at + 1; k < f->left.n; k++) {
		const struct guess *g = guess_of(f, f->left.at[at], f->left.at[k]);

		if (g && g->rule == rule)
			*vec_add(&group) = f->left.at[k];
	}
	if (group.n > 1)
		answer = try_together(f, rule, &group);
	for (size_t i = 1; i < group.n && answer != TRIAL_OTHER; i++) {
		if (answer == TRIAL_MAY) {
			report_may_share(f->report, group.at[i], group.at[0]);
			continue;
		}
		fold(f, group.at[i], group.at[0]);
		remove_left(f, group.at[i]);
	}
	vec_release(&group);
}

static void fold_pairs(struct folding *f)
{
	relate_all(f);
	for (size_t i = 0; i < f->left.n; i++) {
		size_t n = i + 1;

		for (size_t k = i + 1; k < f->left.n; k++) {
			const size_t cause = f->left.at[i], b = f->left.at[k];
			const struct guess *g = guess_of(f, cause, b);
			const enum trial_answer answer = g && g->try ? g->try(f->trials, f->report, cause, b) : TRIAL_OTHER;

			if (answer == TRIAL_SAME) {
				fold(f, b, cause);
				continue;
			}
			if (answer == TRIAL_MAY)
				report_may_share(f->report, b, cause);
			f->left.at[n++] = b;
		}
		f->left.n = n;
		fold_together(f, i, is_one_call);
		fold_together(f, i, is_one_fence);
	}
}

/* By failure point: what opens a window is found before what closes it. */
static void sort_by_point(struct folding *f)
{
	for (size_t i = 1; i < f->left.n; i++) {
		const size_t one = f->left.at[i];
		const struct bug_crash *c = report_draft(f->report, one)->crash;
		size_t k = i;

		for (; c && k > 0; k--) {
			const struct bug_crash *other = report_draft(f->report, f->left.at[k - 1])->crash;

			if (other && other->failure_point <= c->failure_point)
				break;
			f->left.at[k] = f->left.at[k - 1];
		}
		f->left.at[k] = one;
	}
}

/* Is the finding of the window that these make up? */
static bool is_in_window(const struct report *r, const numbers *window, size_t i)
{
	for (size_t k = 0; k < window->n; k++) {
		const struct bug *a = report_draft(r, window->at[k]), *b = report_draft(r, i);

		if (is_same_failure(a, b) && (is_next(a, b) || is_next(b, a) || is_same_end(a, b)))
			return true;
	}
	return false;
}

/* The one that the crash came last to, before the window closes: what it calls lost is not stored in the window. */
static size_t last_of(const struct report *r, const numbers *window)
{
	for (size_t i = window->n; i-- > 0;) {
		const struct bug_location *close = place_find(report_draft(r, window->at[i]), "lost");
		bool is_inside = !close;

		for (size_t k = 0; close && k < window->n; k++) {
			const struct bug_location *inside = place_find(report_draft(r, window->at[k]), "survived");

			is_inside |= inside && place_same(close, inside);
		}
		if (!is_inside)
			return window->at[i];
	}
	return window->at[window->n - 1];
}

/* Findings that make up a window with the first of them. */
static void find_window(const struct folding *f, size_t at, numbers *window)
{
	*vec_add(window) = f->left.at[at];
	for (size_t k = at + 1; k < f->left.n; k++) {
		bool is_in = false;

		for (size_t n = 0; n < window->n; n++)
			is_in |= window->at[n] == f->left.at[k];
		if (is_in || !is_in_window(f->report, window, f->left.at[k]))
			continue;
		*vec_add(window) = f->left.at[k];
		k = at; /* what was passed over may belong to it now */
	}
}

/* Are all gone if what is stored from the first place to the last changes at once? */
static enum trial_answer try_window(const struct folding *f, const numbers *window)
{
	const struct bug_location *open = place_find(report_draft(f->report, window->at[0]), "survived"),
				  *close = place_find(report_draft(f->report, last_of(f->report, window)), "lost");
	struct cause_cure c = { .kind = CAUSE_CURE_ATOMIC };

	if (!open || !close)
		return TRIAL_MAY;
	for (size_t i = 0; i < window->n; i++) {
		const struct bug *b = report_draft(f->report, window->at[i]);

		trials_relate(f->trials, window->at[0], window->at[i]);
		for (size_t k = 0; k < b->nlocations; k++)
			if (place_is(&b->locations[k], "lost") || place_is(&b->locations[k], "survived"))
				cause_cure_add(&c, trials_class(f->trials, b->locations[k].site));
	}
	c.first = trials_class(f->trials, open->site);
	c.last = trials_class(f->trials, close->site);
	return trials_ask_joint(f->trials, &c, window->at, window->n);
}

/* Findings of one window, all of which are folded into the first. */
static void fold_windows(struct folding *f)
{
	sort_by_point(f);
	for (size_t i = 0; i < f->left.n; i++) {
		enum trial_answer answer = TRIAL_OTHER;
		numbers window = { 0 };

		find_window(f, i, &window);
		if (window.n > 1)
			answer = try_window(f, &window);
		for (size_t k = 1; k < window.n && answer != TRIAL_OTHER; k++) {
			if (answer == TRIAL_MAY) {
				report_may_share(f->report, window.at[k], window.at[0]);
				continue;
			}
			fold(f, window.at[k], window.at[0]);
			remove_left(f, window.at[k]);
		}
		if (window.n > 1 && answer == TRIAL_SAME)
			set_window(f->report, window.at[0], last_of(f->report, &window));
		vec_release(&window);
	}
}

static void want_places(struct facts *f, const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		for (size_t k = 0; k < report_draft(r, i)->nlocations; k++)
			facts_want(f, report_draft(r, i)->locations[k].site);
	for (size_t i = 0; i < report_ndrafts(r); i++)
		for (size_t k = 0; k < report_draft_nsites(r, i); k++)
			facts_want(f, report_draft_site(r, i, k));
}

static bool has_wrong(const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (report_draft(r, i)->severity == BUG_CORRECTNESS)
			return true;
	return false;
}

/* What trials took is told with the runs that explain failures. */
static void tell_runs(struct report *r, uint64_t nruns)
{
	struct report_coverage c;

	if (!nruns || !report_coverage(r))
		return;
	c = *report_coverage(r);
	c.diagnosis_runs += nruns;
	report_set_coverage(r, &c);
}

void causes_fold(struct report *r, const char *path, const struct libraries *libraries, struct crash_setup *crash)
{
	struct complaints *complaints;
	struct facts facts = { 0 };
	struct trials *trials;
	struct locator *l;
	struct folding f;
	struct error err;
	struct trace *t;

	if (!has_wrong(r) || trace_open(&t, path, &err) < 0)
		return;
	want_places(&facts, r);
	complaints = complaints_hear(t, &facts);
	facts_take(&facts, t);
	l = locator_new(t, libraries);
	trials = trials_new(r, t, &facts, l, crash);
	complaints_explain(complaints, r, l, &facts, trials);
	folding_init(&f, r, &facts, trials);
	fold_pairs(&f);
	fold_windows(&f);
	tell_runs(r, trials_nruns(trials));
	vec_release(&f.left);
	trials_free(trials);
	locator_free(l);
	complaints_free(complaints);
	facts_release(&facts);
	trace_close(t);
}
