/* Recognises link-and-persist: a word is stored with a mark and made durable, and then the mark is
 * cleared. */
#ifndef CRASH_MARKS_H
#define CRASH_MARKS_H

#include "crash/states/plan.h"
#include "util/map.h"

/* Sites, by whether a store of them clears a mark. */
struct marks {
	struct map clearing, others;
};

void marks_find(const struct plan *p, struct marks *out);
void marks_release(struct marks *m);
/* Does each store of the site only clear bits of a durable word, and leave some bits set? It is an
 * atomic instruction, or it clears the low bits of a link. */
bool marks_clears(const struct marks *m, uint32_t site);

#endif
