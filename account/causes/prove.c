/* Tries the guesses of the rules, in three steps.
 *
 * 1. All causes are fixed together. A finding that is left is another bug, and its cure is added.
 *    So a bug that another one hides is found with few walks.
 * 2. The reverse: a finding at another place, with a cure of its own, is fixed alone. If its cause
 *    is left, the two may be different bugs.
 * 3. Each cause is fixed alone. A finding that is left needs the other causes, too, and the report
 *    says so. This comes last: if the runs do not suffice for it, no finding is counted that would
 *    not be counted otherwise.
 *
 * A finding without a cure is not tried. A finding that was not tried, not decided in step 1, or
 * decided only one way in step 2 "may have the same cause", and is counted. */
#include "account/causes/prove.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes.h"
#include "account/causes/place.h"
#include "util/alloc.h"

struct refuting {
	struct folding *folding;
	struct trials *trials;
	VEC(struct trial_question) tried; /* consequences according to the rules */
	enum trial_answer *answers;
};

static void ask(struct refuting *f, size_t finding, bool is_any)
{
	*vec_add(&f->tried) = (struct trial_question){ .finding = finding, .is_any = is_any };
}

/* Is the finding a cause whose consequences must be tried? A cause with a window need not be:
 * recovery fails in the whole window even if nothing is lost, which proves that it explains the
 * findings there. */
static bool is_cause(const struct report *r, size_t i)
{
	return report_cause(r, i) == i && report_draft(r, i)->severity == BUG_CORRECTNESS &&
	       !bug_has_window(report_draft(r, i));
}

/* ---- step 1: all causes together ---- */

/* Supposes that all causes are fixed. The findings under them should be gone then. */
static void suppose_causes(struct refuting *f)
{
	struct report *r = f->folding->report;
	const size_t n = report_ndrafts(r);

	trials_suppose_nothing(f->trials);
	f->tried.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_cause(r, i) || !bonds_suppose(f->folding->bonds, r, i, f->trials))
			continue;
		for (size_t k = 0; k < n; k++)
			if (k != i && report_cause(r, k) == i)
				ask(f, k, false);
	}
}

static uint64_t store_seq(const struct bug *b)
{
	const struct bug_location *store = place_store(b);

	return store ? store->seq : b->first_seq;
}

/* Is the finding about a transaction? What a transaction lacks explains more than a loss that
 * follows from it. */
static bool is_of_transaction(const struct bug *b)
{
	return strncmp(b->kind, "tx-", 3) == 0;
}

/* Does finding a become a cause before finding b, if both are left? */
static bool is_first(const struct report *r, size_t a, size_t b)
{
	const struct bug *x = report_draft(r, a), *y = report_draft(r, b);

	if (is_of_transaction(x) != is_of_transaction(y))
		return is_of_transaction(x);
	return store_seq(x) != store_seq(y) ? store_seq(x) < store_seq(y)
					    : folding_is_before(r, a, b);
}

/* Finds the first finding that is left: one of a transaction before others, then the one with the
 * oldest store; SIZE_MAX: none is left. */
static size_t first_left(const struct refuting *f)
{
	const struct report *r = f->folding->report;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < f->tried.n; i++) {
		const size_t one = f->tried.at[i].finding;

		if (f->answers[i] == TRIAL_LEFT && (best == SIZE_MAX || is_first(r, one, best)))
			best = one;
	}
	return best;
}

/* Shows another crash for the cause: that of a finding which is still listed under it. The present
 * one may be of another bug. */
static void lend_again(struct report *r, size_t cause)
{
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (i != cause && report_cause(r, i) == cause)
			report_lend_crash(r, cause, i);
}

/* Is a store lost that the cause's transaction does not log, or that is outside of one? */
static bool is_loss_of(const struct bug *cause, const struct bug *b)
{
	const struct bug_location *store = place_store(b);

	return is_of_transaction(cause) && !is_of_transaction(b) && cause->nlocations > 0 &&
	       store && place_same(store, &cause->locations[0]);
}

static void move(struct refuting *f, size_t one, size_t cause, enum bond_kind bond)
{
	report_unexplain(f->folding->report, one);
	folding_fold(f->folding, one, cause, bond);
}

/* Makes the finding a cause, which may explain others that are left. */
static void set_free(struct refuting *f, size_t one)
{
	struct report *r = f->folding->report;
	const size_t cause = report_cause(r, one);

	report_unexplain(r, one);
	for (size_t i = 0; i < f->tried.n; i++) {
		const size_t other = f->tried.at[i].finding;

		if (f->answers[i] != TRIAL_LEFT || other == one)
			continue;
		if (is_loss_of(report_draft(r, one), report_draft(r, other)))
			move(f, other, one, BOND_CURE);
		for (size_t k = 0; k < NGUESSES; k++)
			if (report_cause(r, other) != one &&
			    guesses[k].rule(f->folding->facts, report_draft(r, one),
					    report_draft(r, other)))
				move(f, other, one, guesses[k].bond);
	}
	lend_again(r, cause);
}

/* Marks the finding as undecided: both are counted. */
static void doubt(struct refuting *f, size_t one)
{
	struct report *r = f->folding->report;
	const size_t cause = report_cause(r, one);

	report_unexplain(r, one);
	report_may_share(r, one, cause);
	lend_again(r, cause);
}

static void doubt_undecided(struct refuting *f)
{
	for (size_t i = 0; i < f->tried.n; i++)
		if (f->answers[i] == TRIAL_UNDECIDED)
			doubt(f, f->tried.at[i].finding);
}

/* Marks findings under a cause without a cure as undecided, because they are not tried. */
static void doubt_untried(struct refuting *f)
{
	struct report *r = f->folding->report;

	for (size_t i = 0; i < report_ndrafts(r); i++) {
		if (!is_cause(r, i))
			continue;
		trials_suppose_nothing(f->trials);
		if (bonds_suppose(f->folding->bonds, r, i, f->trials))
			continue;
		for (size_t k = 0; k < report_ndrafts(r); k++)
			if (k != i && report_cause(r, k) == i)
				doubt(f, k);
	}
}

/* Makes one trial for all known causes, and one more for each cause that it reveals. */
static void mend_together(struct refuting *f)
{
	size_t one = SIZE_MAX;

	do {
		suppose_causes(f);
		if (f->tried.n == 0)
			break;
		trials_look(f->trials, f->tried.at, f->tried.n, f->answers);
		doubt_undecided(f);
		one = first_left(f);
		if (one != SIZE_MAX)
			set_free(f, one);
	} while (one != SIZE_MAX);
}

/* ---- step 2: the reverse ---- */

/* Did the crash come inside the transaction that made the store? Then its loss belongs to the
 * transaction. */
static bool is_of_open_transaction(const struct refuting *f, const struct bug *b)
{
	const struct bug_location *store = place_store(b);
	const struct tx_span *tx =
		store && store->seq && b->crash ? facts_span(f->folding->facts, store->seq) : NULL;

	return tx && b->crash->seq <= tx->end_seq;
}

/* Does the finding have a cure of its own? No if one call fixes both, or if the cause that a rule
 * gave it is fixed at the same place. The question makes no sense if the cause has no cure, or is a
 * transaction that does not end: ending it makes its stores durable anyway. */
static bool has_own_cure(const struct refuting *f, size_t one, struct cause_cure *own)
{
	const struct bonds *b = f->folding->bonds;
	struct cause_cure other;

	cause_cure_of(&other, f->trials, report_cause(f->folding->report, one));
	cause_cure_of(own, f->trials, one);
	if (own->kind == CAUSE_CURE_NONE || other.kind == CAUSE_CURE_NONE ||
	    other.kind == CAUSE_CURE_END ||
	    is_of_open_transaction(f, report_draft(f->folding->report, one)))
		return false;
	for (size_t i = 0; i < b->list.n; i++) {
		if (b->list.at[i].member != one)
			continue;
		cause_cure_of(&other, f->trials, b->list.at[i].cause);
		if (b->list.at[i].kind != BOND_CURE || cause_cure_is_for(&other, own))
			return false;
	}
	return true;
}

static enum trial_answer look_at(struct refuting *f, size_t one, bool is_any)
{
	const struct trial_question q = { .finding = one, .is_any = is_any };
	enum trial_answer answer;

	trials_look(f->trials, &q, 1, &answer);
	return answer;
}

/* Fixes a consequence alone, if it is at another place than its cause. The finding must then be
 * gone, and every failure like it; otherwise that was no cure. Then its cause must be gone, too. */
static void mend_consequence(struct refuting *f, size_t one)
{
	const size_t cause = report_cause(f->folding->report, one);
	struct cause_cure own;

	if (!has_own_cure(f, one, &own))
		return;
	trials_suppose_nothing(f->trials);
	trials_suppose(f->trials, &own);
	if (look_at(f, one, true) != TRIAL_LEFT && look_at(f, cause, false) != TRIAL_GONE)
		doubt(f, one);
}

/* ---- step 3: each cause alone ---- */

static size_t count_causes(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < report_ndrafts(r); i++)
		n += is_cause(r, i);
	return n;
}

static void mend_alone(struct refuting *f, size_t cause)
{
	struct report *r = f->folding->report;

	trials_suppose_nothing(f->trials);
	f->tried.n = 0;
	if (!bonds_suppose(f->folding->bonds, r, cause, f->trials))
		return;
	for (size_t k = 0; k < report_ndrafts(r); k++)
		if (k != cause && report_cause(r, k) == cause)
			ask(f, k, false);
	if (f->tried.n == 0)
		return;
	trials_look(f->trials, f->tried.at, f->tried.n, f->answers);
	for (size_t i = 0; i < f->tried.n; i++)
		if (f->answers[i] != TRIAL_GONE)
			report_takes_all(r, f->tried.at[i].finding);
}

/* ---- all steps ---- */

void prove_folded(struct folding *folding, struct trials *trials)
{
	struct refuting f = { .folding = folding, .trials = trials };
	struct report *r = folding->report;
	bool has_several;

	f.answers = xcalloc(report_ndrafts(r) + 2, sizeof *f.answers);
	doubt_untried(&f);
	mend_together(&f);
	has_several = count_causes(r) > 1;
	for (size_t i = 0; i < report_ndrafts(r); i++)
		if (report_cause(r, i) != i)
			mend_consequence(&f, i);
	trials_decide(trials, false);
	for (size_t i = 0; has_several && i < report_ndrafts(r); i++)
		if (is_cause(r, i))
			mend_alone(&f, i);
	trials_decide(trials, true);
	vec_release(&f.tried);
	free(f.answers);
}
