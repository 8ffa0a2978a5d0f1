/* Finds the failure points at which something may be lost for the first time. */
#ifndef CRASH_RACES_NOVELTY_H
#define CRASH_RACES_NOVELTY_H

#include "crash/states/walk.h"

struct novelty_site {
	uint64_t point; /* the last failure point that counted */
	uint32_t npoints;
	bool is_noted;
};

/* The number of failure points per place whose stores may be lost there. Zero-initialised is empty,
 * except for ignored places. */
struct novelty {
	const bool *ignored; /* by site */
	size_t nignored;
	VEC(struct novelty_site) sites; /* by number of the place */
};
void novelty_release(struct novelty *n);
/* Counts each failure point of the walk, in order. True: a store may be lost here whose place was
 * counted at few failure points before. */
bool novelty_step(struct novelty *n, const struct walk *w);
/* Counts a store that is not at a counted failure point. True: it is the first of its place. */
bool novelty_note(struct novelty *n, const struct model_store *s);

#endif
