/* What lies ahead of each step of a path: a place where the program could have gone on to persistent memory, and did not. Often no condition on the input says why, because the
 * program looks at something that it has counted, or at what a function returned; then the steps shortly before are what decided. */
#ifndef EXPLORE_AHEAD_H
#define EXPLORE_AHEAD_H

#include "explore/graph/graph.h"
#include "explore/path/path.h"

struct ahead_step {
	uint64_t worth; /* of the best place, less the further it is; 0: there is none */
	uint32_t block; /* of that place */
};

struct ahead { /* of one path; all zeros at first */
	uint64_t version;
	VEC(struct ahead_step) steps;
};

void ahead_refresh(struct ahead *a, struct graph *g, const struct path *p, uint64_t (*worth)(const struct graph_front *f));
void ahead_release(struct ahead *a);

#endif
