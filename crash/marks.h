/* Recognises link-and-persist: a word is stored with a mark and made durable, and then the mark is
 * cleared. */
#ifndef CRASH_MARKS_H
#define CRASH_MARKS_H

#include "crash/states/plan.h"

/* Does each store of the site only clear bits of a durable word, with an atomic instruction, and
 * leave some bits set? */
bool marks_clears(const struct plan *p, uint32_t site);

#endif
