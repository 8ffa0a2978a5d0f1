/* Findings that are being listed under others: what the rules (causes.c) and the trials (prove.c)
 * both change. */
#ifndef SESSION_CAUSES_FOLDING_H
#define SESSION_CAUSES_FOLDING_H

#include "report/bug.h"
#include "session/causes/bonds.h"
#include "session/causes/facts.h"
#include "session/causes/trials.h"

struct folding {
	struct report *report;
	const struct facts *facts;
	struct bonds *bonds;
	numbers left; /* findings without a cause, best first */
};

/* Does the first explain the second? */
typedef bool rule_fn(const struct facts *f, const struct bug *cause, const struct bug *b);

struct guess {
	rule_fn *rule;
	enum bond_kind bond;
};

#define NGUESSES 4u
/* In this order; of two findings that explain each other, the one that stands first stays. */
extern const struct guess guesses[NGUESSES];

/* The first of them explains more. */
bool folding_is_before(const struct report *r, size_t a, size_t b);
void folding_fold(struct folding *f, size_t i, size_t cause, enum bond_kind kind);

/* Tries what the rules guessed. What is refuted is counted again; what is not decided, too, and it
 * may have the cause that the rules name. */
void prove_folded(struct folding *f, struct trials *t);

#endif
