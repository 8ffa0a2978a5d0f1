/* Keeps which losses make recovery fail at a failure point. A loss is named by the places in the
 * program of the lost stores. Sets of states that lose the same places can probably only repeat the
 * failure, so they wait until all other sets are done. They are not dropped, because that is not
 * certain. */
#ifndef CRASH_SEARCH_KNOWN_LOSSES_H
#define CRASH_SEARCH_KNOWN_LOSSES_H

#include "crash/states/narrowing.h"

#define KNOWN_PLACES_MAX 8u

struct known_loss {
	uint32_t lost[KNOWN_PLACES_MAX]; /* site ids */
	uint32_t n;                      /* 0: the failure needs no loss */
	uint32_t survived;               /* site id; 0: none */
};

/* Zero-initialised is empty. */
struct known_losses {
	VEC(struct known_loss) list;
};
void known_losses_release(struct known_losses *k);
/* Adds a failing state of which no loss can be undone. survived: the place whose store had to
 * survive; 0: none. False: it loses too many places, or it is known already. */
bool known_losses_add(struct known_losses *k, const struct state_set *s, const struct model *m,
		      const uint64_t *state, uint32_t survived);
/* Can all states that are narrowed this way only repeat a known failure? They must lose its places
 * and no other place in the same line, and the store that had to survive must be able to
 * survive. */
bool known_losses_cover(const struct known_losses *k, const struct state_set *s,
			const struct model *m, const struct narrowing *narrowed);

#endif
