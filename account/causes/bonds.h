/* Bonds say why a finding is listed under another one, and so which change would fix that other one
 * together with everything under it. */
#ifndef ACCOUNT_CAUSES_BONDS_H
#define ACCOUNT_CAUSES_BONDS_H

#include "account/causes/trials.h"

/* What fixes both findings. */
enum bond_kind {
	BOND_CURE,   /* the cure of the cause itself */
	BOND_FLUSH,  /* one flush */
	BOND_FENCE,  /* one fence */
	BOND_WINDOW, /* one atomic change */
	BOND_RANGE,  /* one range of a transaction */
};

struct bond {
	size_t cause, member;
	enum bond_kind kind;
};

struct bonds {
	VEC(struct bond) list;
};

typedef VEC(size_t) numbers;

void bonds_add(struct bonds *b, size_t cause, size_t member, enum bond_kind kind);
void bonds_release(struct bonds *b);
/* Lists the cause, and the findings that bonds of this kind still list under it, in the order in
 * which they were added. */
void bonds_members(const struct bonds *b, const struct report *r, size_t cause, enum bond_kind kind,
		   numbers *out);
/* Gives the last finding of a window: the one whose crash comes last before the window closes. */
size_t window_last(const struct report *r, const numbers *window);

/* Supposes that the cause is fixed in the way that its bonds require. False: it has no cure. */
bool bonds_suppose(const struct bonds *b, const struct report *r, size_t cause, struct trials *t);

#endif
