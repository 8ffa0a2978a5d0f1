/* Groups findings that have one cause. Transactions come first (transactions.c), because their
 * consequences look like many other bugs. Then come findings that one flush, one fence or one
 * atomic change would fix (folding.c). A finding whose cause is known is not compared any more. At
 * the end, the guesses are tried (prove.c). */
#include "account/causes/causes.h"

#include <string.h>

#include "report/causes.h"
#include "account/causes/bonds.h"
#include "account/causes/facts.h"
#include "account/causes/folding.h"
#include "account/causes/helpers.h"
#include "account/causes/pairs.h"
#include "account/causes/place.h"
#include "account/causes/prove.h"
#include "account/causes/transactions.h"
#include "account/causes/trials.h"
#include "report/bug.h"
#include "util/str.h"

/* ---- windows ---- */

/* Does recovery fail in the same way for both findings, with nothing lost for either? */
static bool is_same_failure(const struct bug *a, const struct bug *b)
{
	return a->crash && b->crash && a->crash->seq && b->crash->seq && a->crash->is_whole &&
	       b->crash->is_whole && bug_is_kind(a, b->kind) &&
	       str_same(a->crash->command, b->crash->command) &&
	       str_same(a->crash->outcome, b->crash->outcome);
}

/* Does the second crash follow directly after the first: at the next failure point, or between the
 * next two stores? */
static bool is_next(const struct bug *a, const struct bug *b)
{
	const struct bug_location *after = place_find(a, "lost"),
				  *before = place_find(b, "survived");

	return b->crash->failure_point == a->crash->failure_point + 1 ||
	       (after && before && place_same(after, before));
}

/* Does the same store close the windows of both findings? */
static bool is_same_end(const struct bug *a, const struct bug *b)
{
	const struct bug_location *x = place_find(a, "lost"), *y = place_find(b, "lost");

	return x && y && place_same(x, y);
}

static const char WINDOW[] =
	"a crash anywhere between these two stores leaves a state that recovery cannot handle, although nothing is lost";

/* Makes the window from the store that opens it to the store that closes it. */
static void set_window(struct report *r, size_t first, size_t last)
{
	const struct bug_location *close = place_find(report_draft(r, last), "lost"),
				  *open = place_find(report_draft(r, first), "survived");
	struct bug_location both[2];

	if (!close || !open)
		return;
	both[0] = *close;
	both[1] = *open;
	report_set_locations(r, first, both, 2, WINDOW);
}

/* ---- folding ---- */

static void folding_init(struct folding *f, struct report *r, const struct facts *facts,
			 struct bonds *bonds)
{
	*f = (struct folding){ .report = r, .facts = facts, .bonds = bonds };
	for (size_t i = 0; i < report_ndrafts(r); i++) {
		size_t k;

		if (report_draft(r, i)->severity != BUG_CORRECTNESS || report_cause(r, i) != i ||
		    bug_has_window(report_draft(r, i)))
			continue;
		*vec_add(&f->left) = i;
		for (k = f->left.n - 1; k > 0 && folding_is_before(r, i, f->left.at[k - 1]); k--)
			f->left.at[k] = f->left.at[k - 1];
		f->left.at[k] = i;
	}
}

static void fold_by(struct folding *f, const struct guess *g)
{
	for (size_t i = 0; i < f->left.n; i++) {
		size_t n = i + 1;

		for (size_t k = i + 1; k < f->left.n; k++)
			if (g->rule(f->facts, report_draft(f->report, f->left.at[i]),
				    report_draft(f->report, f->left.at[k])))
				folding_fold(f, f->left.at[k], f->left.at[i], g->bond);
			else
				f->left.at[n++] = f->left.at[k];
		f->left.n = n;
	}
}

/* Sorts by failure point, so that the finding that opens a window comes before the one that closes
 * it. */
static void sort_by_point(struct folding *f)
{
	for (size_t i = 1; i < f->left.n; i++) {
		const size_t one = f->left.at[i];
		const struct bug_crash *c = report_draft(f->report, one)->crash;
		size_t k = i;

		for (; c && k > 0; k--) {
			const struct bug_crash *other =
				report_draft(f->report, f->left.at[k - 1])->crash;

			if (other && other->failure_point <= c->failure_point)
				break;
			f->left.at[k] = f->left.at[k - 1];
		}
		f->left.at[k] = one;
	}
}

/* Does the finding belong to the window that these findings form? */
static bool is_in_window(const struct report *r, const numbers *window, size_t i)
{
	for (size_t k = 0; k < window->n; k++) {
		const struct bug *a = report_draft(r, window->at[k]), *b = report_draft(r, i);

		if (is_same_failure(a, b) && (is_next(a, b) || is_next(b, a) || is_same_end(a, b)))
			return true;
	}
	return false;
}

/* Lists all findings of a window under its first one. */
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
			memmove(&f->left.at[k], &f->left.at[k + 1],
				(f->left.n - k - 1) * sizeof *f->left.at);
			f->left.n--;
			k = i; /* findings that were skipped may belong to the window now */
		}
		vec_release(&window);
	}
}

/* Names each window for which findings are still listed under the first one. */
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

/* ---- the whole grouping ---- */

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

/* Adds the runs of trials to those that explain failures. */
static void tell_runs(struct report *r, uint64_t nruns)
{
	struct report_coverage c;

	if (!nruns || !report_coverage(r))
		return;
	c = *report_coverage(r);
	c.diagnosis_runs += nruns;
	report_set_coverage(r, &c);
}

void causes_fold(struct report *r, const char *path, const struct libraries *libraries,
		 struct crash_setup *crash)
{
	struct tx_findings *tx_findings;
	struct trials *trials = NULL;
	struct facts facts = { 0 };
	struct bonds bonds = { 0 };
	struct folding f;
	struct locator *l;
	struct error err;
	struct trace *t;

	if ((!has_wrong(r) && !pairs_are_there(r)) || trace_open(&t, path, &err) < 0)
		return;
	want_places(&facts, r);
	tx_findings = tx_findings_collect(t, &facts);
	facts_take(&facts, t);
	l = locator_new(t, libraries);
	tx_findings_explain(tx_findings, r, l, &facts, &bonds);
	folding_init(&f, r, &facts, &bonds);
	for (size_t i = 0; i < NGUESSES; i++)
		fold_by(&f, &guesses[i]);
	fold_windows(&f);
	if (has_folded(r) || helpers_are_wanted(r))
		trials = trials_new(r, t, &facts, l, crash);
	if (has_folded(r))
		prove_folded(&f, trials);
	name_windows(&f);
	vec_release(&f.left);
	if (trials && helpers_are_wanted(r))
		helpers_explain(r, t, libraries, trials);
	if (trials)
		tell_runs(r, trials_nruns(trials));
	if (trials)
		trials_free(trials);
	pairs_confirm(r, t, l, crash != NULL);
	if (crash && crash->watch)
		crash->watch->diagnosed(crash->watch->arg);
	bonds_release(&bonds);
	locator_free(l);
	tx_findings_free(tx_findings);
	facts_release(&facts);
	trace_close(t);
}
