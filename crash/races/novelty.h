/* What may be lost at a failure point for the first time. */
#ifndef CRASH_RACES_NOVELTY_H
#define CRASH_RACES_NOVELTY_H

#include "crash/states/walk.h"

struct novelty_site {
	uint64_t point; /* the last one */
	uint32_t npoints;
	bool is_noted;
};

/* Counts failure points by the places whose stores may be lost there. Zero-initialised is empty,
 * but for what does not count. */
struct novelty {
	const bool *ignored; /* by site */
	size_t nignored;
	VEC(struct novelty_site) sites; /* by number */
};
void novelty_release(struct novelty *n);
/* At each failure point that the walk comes to, in order. True: something may be lost here that
 * some place of the program stored, and that was so at few failure points before. */
bool novelty_step(struct novelty *n, const struct walk *w);
/* A store by itself, apart from the points that are counted. True: it is the first of its place. */
bool novelty_note(struct novelty *n, const struct model_store *s);

#endif
