/* Proves by trials which findings are only consequences of others. The rules (folding.h) have
 * guessed that one finding is the cause of another one. A trial (trials.h) supposes that the cause
 * is fixed. If the other finding is gone then, the guess was right. */
#ifndef ACCOUNT_CAUSES_PROVE_H
#define ACCOUNT_CAUSES_PROVE_H

#include "account/causes/folding.h"
#include "account/causes/trials.h"

/* Tries all guesses. A finding whose guess is refuted is counted as a bug of its own again. So is a
 * finding whose guess is undecided; the report then says that it "may have" the cause that the
 * rules name. */
void prove_folded(struct folding *f, struct trials *t);

#endif
