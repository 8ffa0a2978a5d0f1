/* Proves by trials what the rules guessed. */
#ifndef ACCOUNT_CAUSES_PROVE_H
#define ACCOUNT_CAUSES_PROVE_H

#include "account/causes/folding.h"
#include "account/causes/trials.h"

/* Tries all guesses. A refuted finding is counted again. So is an undecided one, which then "may
 * have" the cause that the rules name. */
void prove_folded(struct folding *f, struct trials *t);

#endif
