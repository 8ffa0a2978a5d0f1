/* Lists findings under others, and has the rules that say which pairs to try. */
#ifndef ACCOUNT_CAUSES_FOLDING_H
#define ACCOUNT_CAUSES_FOLDING_H

#include "report/bug.h"
#include "account/causes/bonds.h"
#include "account/causes/facts.h"

struct folding {
	struct report *report;
	const struct facts *facts;
	struct bonds *bonds;
	numbers left; /* findings without a cause, the best explanations first */
};

/* Does the first finding explain the second? */
typedef bool rule_fn(const struct facts *f, const struct bug *cause, const struct bug *b);

struct guess {
	rule_fn *rule;
	enum bond_kind bond;
};

#define NGUESSES 4u
/* Applied in this order; if two findings explain each other, the one that comes first is the
 * cause. */
extern const struct guess guesses[NGUESSES];

/* Is finding a tried as a cause before finding b, because a finding of its kind explains more or it
 * comes earlier? */
bool folding_is_before(const struct report *r, size_t a, size_t b);
void folding_fold(struct folding *f, size_t i, size_t cause, enum bond_kind kind);

#endif
