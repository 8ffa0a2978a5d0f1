/* A share of the failure points, if several processes divide them. Each process divides all of them
 * by the same rule, and takes its own. Neighbours stay together, because they need the same
 * reference states. The spans grow with the trace, so a share has few of them, and all shares cost
 * about the same. */
#ifndef CRASH_WORKERS_SHARE_H
#define CRASH_WORKERS_SHARE_H

#include "crash/findings/exploration.h"

struct share_span {
	uint64_t first, n; /* numbers of failure points, from 1 */
	uint64_t before;   /* failure points of this share that come before it */
};

struct share {
	VEC(struct share_span) spans;
	uint64_t n; /* failure points of the share */
};

void share_release(struct share *s);
/* Gives the i-th failure point of the share, from 0. */
uint64_t share_at(const struct share *s, uint64_t i);

struct dealer {
	struct shard shard;
	uint64_t *loads; /* by shard: its cost so far */
	uint64_t total;
	uint64_t next;      /* number of the next failure point */
	uint64_t together;  /* failure points of a window, which stay together; 0: 1 */
	uint64_t span_cost; /* cost of the present span */
	uint32_t owner;     /* shard of the present span, from 0 */
	bool has_span;
};

void dealer_init(struct dealer *d, struct shard s);
/* Assigns the next failure point, with this cost; ours is added to the share. True: it is ours. */
bool dealer_add(struct dealer *d, uint64_t cost, struct share *own);
void dealer_release(struct dealer *d);

#endif
