/* Has the rules by which one finding may explain another one, and the order in which findings are
 * tried as causes. A rule compares two findings and only guesses. */
#include "account/causes/folding.h"

#include <string.h>

#include "report/causes.h"
#include "account/causes/place.h"
#include "report/bug.h"

/* ---- rules: does the first explain the second? ---- */

static bool same_store(const struct bug *a, const struct bug *b)
{
	const struct bug_location *x = place_store(a), *y = place_store(b);

	return x && y && place_same(x, y);
}

/* Is the same store not durable in both findings, whatever survives and whoever reads it? */
static bool is_same_loss(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	(void)f;
	return place_lack(cause) && (place_lack(b) || bug_is_kind(b, "cross-failure-race")) &&
	       same_store(cause, b);
}

static bool is_one_flush(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	/* NULL: the place is unknown */
	const struct bug_location *x = place_store(cause), *y = place_store(b);

	if (place_lack(cause) != LACKS_FLUSH || place_lack(b) != LACKS_FLUSH || !x || !y)
		return false;
	return place_same_function(x, y) ? facts_share_flush(f, x->site, y->site)
					 : facts_share_flushes(f, x->site, y->site);
}

static bool is_one_fence(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *end = place_end(cause), *other = place_end(b),
				  *x = place_store(cause), *y = place_store(b);

	return place_lack(cause) == LACKS_FENCE && place_lack(b) == LACKS_FENCE && end && other &&
	       x && y &&
	       facts_one_fence(f, (struct stretch){ x->site, end->site },
			       (struct stretch){ y->site, other->site });
}

/* Are both findings about the same two stores, which must change together? Recovery fails whichever
 * of them is lost. If a crash showed a store that is never written back, the other store may be
 * unknown. */
static bool is_same_pair(const struct facts *f, const struct bug *cause, const struct bug *b)
{
	const struct bug_location *lost = place_find(cause, "lost"),
				  *survived = place_find(cause, "survived");
	const struct bug_location *other = place_store(b), *partner = place_find(b, "survived");

	(void)f;
	if (!bug_is_kind(cause, "atomicity") || !b->crash || !lost || !survived || !other ||
	    (!place_lack(b) && !bug_is_kind(b, "atomicity")))
		return false;
	if (!partner)
		return place_same(survived, other);
	return (place_same(lost, other) && place_same(survived, partner)) ||
	       (place_same(lost, partner) && place_same(survived, other));
}

const struct guess guesses[NGUESSES] = {
	{ is_same_pair, BOND_CURE },
	{ is_same_loss, BOND_CURE },
	{ is_one_flush, BOND_FLUSH },
	{ is_one_fence, BOND_FENCE },
};

/* ---- order ---- */

/* Ranks kinds by how much they explain: first what durability alone does not fix, then what is
 * never written back, then what is late. */
static int rank_of(const struct bug *b)
{
	static const char *const kinds[] = { "atomicity", "missing-flush-fence", "missing-flush",
					     "missing-fence", "ordering" };
	int i = 0;

	while (i < (int)(sizeof kinds / sizeof *kinds) && !bug_is_kind(b, kinds[i]))
		i++;
	return i;
}

/* Gives the event by which findings are sorted. If a fence would help, it must come before the
 * earliest end. */
static uint64_t order_of(const struct bug *b)
{
	const struct bug_location *end = place_lack(b) == LACKS_FENCE ? place_end(b) : NULL;

	return end && end->seq ? end->seq : b->first_seq;
}

bool folding_is_before(const struct report *r, size_t a, size_t b)
{
	const struct bug *x = report_draft(r, a), *y = report_draft(r, b);

	/* a finding on which recovery relies must not be listed under one on which it does not */
	if (bug_is_last(x) != bug_is_last(y))
		return bug_is_last(y);
	if (rank_of(x) != rank_of(y))
		return rank_of(x) < rank_of(y);
	if (order_of(x) != order_of(y))
		return order_of(x) < order_of(y);
	return x->first_seq != y->first_seq ? x->first_seq < y->first_seq : a < b;
}

void folding_fold(struct folding *f, size_t i, size_t cause, enum bond_kind kind)
{
	report_lend_crash(f->report, cause, i);
	report_explain(f->report, i, cause);
	bonds_add(f->bonds, cause, i, kind);
}
