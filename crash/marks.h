/* Link-and-persist: a word is stored with a mark and made durable, and then the mark is cleared. */
#ifndef CRASH_MARKS_H
#define CRASH_MARKS_H

#include "crash/states/plan.h"

/* Each store of the site only clears bits of a word, by an atomic instruction, leaves some, and
 * finds the word durable. */
bool marks_clears(const struct plan *p, uint32_t site);

#endif
