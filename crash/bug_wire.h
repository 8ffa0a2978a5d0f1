/* Bugs on their way from a worker to its parent, and what makes two of them one. */
#ifndef CRASH_BUG_WIRE_H
#define CRASH_BUG_WIRE_H

#include "crash/crash.h"
#include "crash/wire.h"

void bug_put(struct wire *m, const struct crash_bug *b);
void bug_get(struct wire *m, struct crash_bug *b);
/* A known one and a new one are the same. A guessed survivor may be any, but a guess does not swallow what is known for sure. */
bool bug_same(const struct crash_bug *a, const struct crash_bug *b);
/* One bug of several workers is one: the earlier, unless its survivor is a guess only. Takes b. */
void bug_merge(struct crash_result *r, struct crash_bug *b);
/* When all have told: a bug whose surviving store is a guess is one that is known better, if there is such a one. */
void bug_merge_guesses(struct crash_result *r);

#endif
