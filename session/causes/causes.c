/* Groups findings that have one cause. Transactions come first (transactions.c), because what they explain looks like many other bugs. Then comes what one flush, one fence
 * or one atomic change would fix (the table below). Each rule compares two findings. A finding that has found its cause is not compared any more. The rules only guess: what is left when
 * all causes are mended is a consequence of none of them. */
#include "session/causes/causes.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes.h"
#include "session/causes/bonds.h"
#include "session/causes/facts.h"
#include "session/causes/folding.h"
#include "session/causes/helpers.h"
#include "session/causes/place.h"
#include "session/causes/transactions.h"
#include "session/causes/trials.h"
#include "util/alloc.h"

static bool is_kind(const struct bug *b, const char *kind)
{
	return strcmp(b->kind, kind) == 0;
}

/* ---- rules: does the first explain the second? ---- */

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

	if (place_lack(cause) != LACKS_FLUSH || place_lack(b) != LACKS_FLUSH || !x || !y)
		return false;
	return place_same_function(x, y) ? facts_share_flush(f, x->site, y->site) : facts_share_flushes(f, x->site, y->site);
}

static bool is_one_fence(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *end = place_end(cause), *other = place_end(b), *x = place_store(cause), *y = place_store(b);

	return place_lack(cause) == LACKS_FENCE && place_lack(b) == LACKS_FENCE && end && other && x && y &&
	       facts_one_fence(f, (struct stretch){ x->site, end->site }, (struct stretch){ y->site, other->site });
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

const struct guess guesses[NGUESSES] = {
	{ is_same_pair, BOND_CURE },
	{ is_same_loss, BOND_CURE },
	{ is_one_flush, BOND_FLUSH },
	{ is_one_fence, BOND_FENCE },
};

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

bool folding_is_before(const struct report *r, size_t a, size_t b)
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

static void folding_init(struct folding *f, struct report *r, const struct facts *facts, struct bonds *bonds)
{
	*f = (struct folding){ .report = r, .facts = facts, .bonds = bonds };
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		size_t k;

		if (report_draft(r, i)->severity != BUG_CORRECTNESS || report_cause(r, i) != i)
			continue;
		*vec_add(&f->left) = i;
		for (k = f->left.n - 1; k > 0 && folding_is_before(r, i, f->left.at[k - 1]); k--)
			f->left.at[k] = f->left.at[k - 1];
		f->left.at[k] = i;
	}
}

void folding_fold(struct folding *f, size_t i, size_t cause, enum bond_kind kind)
{
	report_lend_crash(f->report, cause, i);
	report_explain(f->report, i, cause);
	bonds_add(f->bonds, cause, i, kind);
}

static void fold_by(struct folding *f, const struct guess *g)
{
	for (size_t i = 0; i < f->left.n; i++) {
		size_t n = i + 1;

		for (size_t k = i + 1; k < f->left.n; k++)
			if (g->rule(f->facts, report_draft(f->report, f->left.at[i]), report_draft(f->report, f->left.at[k])))
				folding_fold(f, f->left.at[k], f->left.at[i], g->bond);
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
			folding_fold(f, f->left.at[k], first, BOND_WINDOW);
			memmove(&f->left.at[k], &f->left.at[k + 1], (f->left.n - k - 1) * sizeof *f->left.at);
			f->left.n--;
			k = i; /* what was passed over may belong to it now */
		}
		vec_release(&window);
	}
}

/* What is still listed under its first one is named as a window. */
static void name_windows(struct folding *f)
{
	numbers window = { 0 };

	for (size_t i = 0; i < report_ndrafts(f->report); i++) {
		bonds_members(f->bonds, f->report, i, BOND_WINDOW, &window);
		if (window.n > 1)
			set_window(f->report, i, window_last(f->report, &window));
	}
	vec_release(&window);
}

/* ---- all ---- */

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

static bool has_folded(const struct report *r)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (report_cause(r, i) != i)
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

static void try_folded(struct folding *f, const struct trace *t, struct locator *l, struct crash_setup *crash)
{
	struct trials *trials = trials_new(f->report, t, f->facts, l, crash);

	prove_folded(f, trials);
	tell_runs(f->report, trials_nruns(trials));
	trials_free(trials);
}

void causes_fold(struct report *r, const char *path, const struct libraries *libraries, struct crash_setup *crash)
{
	struct complaints *complaints;
	struct facts facts = { 0 };
	struct bonds bonds = { 0 };
	struct folding f;
	struct locator *l;
	struct error err;
	struct trace *t;

	if (!has_wrong(r) || trace_open(&t, path, &err) < 0)
		return;
	want_places(&facts, r);
	complaints = complaints_hear(t, &facts);
	facts_take(&facts, t);
	l = locator_new(t, libraries);
	complaints_explain(complaints, r, l, &facts, &bonds);
	folding_init(&f, r, &facts, &bonds);
	for (size_t i = 0; i < NGUESSES; i++)
		fold_by(&f, &guesses[i]);
	fold_windows(&f);
	if (has_folded(r))
		try_folded(&f, t, l, crash);
	name_windows(&f);
	vec_release(&f.left);
	helpers_explain(r, t, libraries);
	bonds_release(&bonds);
	locator_free(l);
	complaints_free(complaints);
	facts_release(&facts);
	trace_close(t);
}
