/* What is known to make recovery fail at a failure point, by places of the program: sets of states
 * that lose it, too, can only repeat that, and wait until all else is done. They are not left out:
 * what they hold is not known for sure. */
#ifndef CRASH_SEARCH_KNOWN_LOSSES_H
#define CRASH_SEARCH_KNOWN_LOSSES_H

#include "crash/states/narrowing.h"

#define KNOWN_PLACES_MAX 8u

struct known_loss {
	uint32_t lost[KNOWN_PLACES_MAX]; /* sites in the trace */
	uint32_t n;                      /* 0: nothing has to be lost */
	uint32_t survived;               /* a site, 0: none */
};

/* Zero-initialised is none. */
struct known_losses {
	VEC(struct known_loss) list;
};
void known_losses_release(struct known_losses *k);
/* A failing state of which nothing can be given back. survived: the place whose store had to
 * survive, 0: none. False: it loses too much to say, or it is known. */
bool known_losses_add(struct known_losses *k, const struct state_set *s, const struct model *m,
		      const uint64_t *state, uint32_t survived);
/* Every state that is narrowed so loses something known, and no store of another place in the same
 * line; and what had to survive may survive. */
bool known_losses_cover(const struct known_losses *k, const struct state_set *s,
			const struct model *m, const struct narrowing *narrowed);

#endif
