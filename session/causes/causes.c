/* Groups findings that have one cause. Transactions come first (transactions.c), because what they explain looks like many other bugs. Then comes what one flush, one fence
 * or one atomic change would fix (the table below). Each rule compares two findings. A finding that has found its cause is not compared any more. */
#include "session/causes/causes.h"

#include <string.h>

#include "report/causes.h"
#include "session/causes/facts.h"
#include "session/causes/helpers.h"
#include "session/causes/place.h"
#include "session/causes/transactions.h"

/* ---- what a finding lacks ---- */

enum lack { LACKS_NOTHING, LACKS_FLUSH, LACKS_FENCE };

static bool is_kind(const struct bug *b, const char *kind)
{
	return strcmp(b->kind, kind) == 0;
}

/* Of a crash's finding, what was done for the lost store comes directly after it. */
static enum lack lack_of(const struct bug *b)
{
	if (is_kind(b, "missing-fence"))
		return LACKS_FENCE;
	if (is_kind(b, "missing-flush-fence"))
		return LACKS_FLUSH;
	if (!is_kind(b, "missing-flush") && !is_kind(b, "ordering"))
		return LACKS_NOTHING;
	return b->nlocations > 1 && place_is(&b->locations[1], "flush") ? LACKS_FENCE : LACKS_FLUSH;
}

/* Up to where a fence would help; NULL: not known. */
static const struct bug_location *end_of(const struct bug *b)
{
	const struct bug_location *survived = place_find(b, "survived");

	return survived ? survived : place_find(b, "acknowledged");
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
	return lack_of(cause) && (lack_of(b) || is_kind(b, "cross-failure-race")) && same_store(cause, b);
}

static bool is_one_flush(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *x = place_store(cause), *y = place_store(b); /* NULL: the place is not known */

	return lack_of(cause) == LACKS_FLUSH && lack_of(b) == LACKS_FLUSH && x && y && facts_share_flush(f, x->site, y->site);
}

static bool is_one_fence(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *end = end_of(cause), *other = end_of(b), *x = place_store(cause), *y = place_store(b);

	return lack_of(cause) == LACKS_FENCE && lack_of(b) == LACKS_FENCE && end && other && x && y &&
	       facts_one_fence(f, (struct stretch){ x->site, end->site }, (struct stretch){ y->site, other->site });
}

/* What must change together fails whichever of the two is lost. Of a store that is never written back, and that a crash showed, the other one may not be known. */
static bool is_same_pair(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *lost = place_find(cause, "lost"), *survived = place_find(cause, "survived");
	const struct bug_location *other = place_store(b), *partner = place_find(b, "survived");

	(void)f;
	if (!is_kind(cause, "atomicity") || !b->crash || !lost || !survived || !other || (!lack_of(b) && !is_kind(b, "atomicity")))
		return false;
	if (!partner)
		return place_same(survived, other);
	return (place_same(lost, other) && place_same(survived, partner)) || (place_same(lost, partner) && place_same(survived, other));
}

/* In this order; of two findings that explain each other, the one that stands first stays: see rank_of(). */
static rule_fn *const rules[] = { is_same_pair, is_same_loss, is_one_flush, is_one_fence };

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
	const struct bug_location *end = lack_of(b) == LACKS_FENCE ? end_of(b) : NULL;

	return end && end->seq ? end->seq : b->first_seq;
}

typedef VEC(size_t) numbers;

struct folding {
	struct report *report;
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

static void folding_init(struct folding *f, struct report *r, const struct facts *facts)
{
	*f = (struct folding){ .report = r, .facts = facts };
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

static void fold_by(struct folding *f, rule_fn *rule)
{
	for (size_t i = 0; i < f->left.n; i++) {
		size_t n = i + 1;

		for (size_t k = i + 1; k < f->left.n; k++)
			if (rule(f->facts, report_draft(f->report, f->left.at[i]), report_draft(f->report, f->left.at[k])))
				fold(f, f->left.at[k], f->left.at[i]);
			else
				f->left.at[n++] = f->left.at[k];
		f->left.n = n;
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

/* Findings of one window, all of which are folded into the first. */
static void fold_windows(struct folding *f)
{
	sort_by_point(f);
	for (size_t i = 0; i < f->left.n; i++) {
		const size_t first = f->left.at[i];
		numbers window = { 0 };

		*vec_add(&window) = first;
		for (size_t k = i + 1; k < f->left.n; k++) {
			if (!is_in_window(f->report, &window, f->left.at[k]))
				continue;
			*vec_add(&window) = f->left.at[k];
			fold(f, f->left.at[k], first);
			memmove(&f->left.at[k], &f->left.at[k + 1], (f->left.n - k - 1) * sizeof *f->left.at);
			f->left.n--;
			k = i; /* what was passed over may belong to it now */
		}
		if (window.n > 1)
			set_window(f->report, first, last_of(f->report, &window));
		vec_release(&window);
	}
}

static void want_places(struct facts *f, const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		for (size_t k = 0; k < report_draft(r, i)->nlocations; k++)
			facts_want(f, report_draft(r, i)->locations[k].site);
}

static bool has_wrong(const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (report_draft(r, i)->severity == BUG_CORRECTNESS)
			return true;
	return false;
}

void causes_fold(struct report *r, const char *path, const struct libraries *libraries)
{
	struct complaints *complaints;
	struct facts facts = { 0 };
	struct folding f;
	struct error err;
	struct trace *t;

	if (!has_wrong(r) || trace_open(&t, path, &err) < 0)
		return;
	want_places(&facts, r);
	complaints = complaints_hear(t, &facts);
	facts_take(&facts, t);
	complaints_explain(complaints, r, t, &facts, libraries);
	folding_init(&f, r, &facts);
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		fold_by(&f, rules[i]);
	fold_windows(&f);
	vec_release(&f.left);
	helpers_explain(r, t, libraries);
	complaints_free(complaints);
	facts_release(&facts);
	trace_close(t);
}
