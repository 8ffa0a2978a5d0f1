/* A share of the failure points, where several processes divide them: each deals out all of them by
 * the same rule, and takes its own. Neighbours stay together, for they need the same reference
 * states; the spans grow with the trace, so that a share has few of them, and all shares cost about
 * the same. */
#ifndef CRASH_WORKERS_SHARE_H
#define CRASH_WORKERS_SHARE_H

#include "crash/findings/exploration.h"

struct share_span {
	uint64_t first, n; /* numbers of what was dealt out, from 1 */
	uint64_t before;   /* how many of this share come before it */
};

struct share {
	VEC(struct share_span) spans;
	uint64_t n; /* in all */
};

void share_release(struct share *s);
/* The i-th of the share, from 0. */
uint64_t share_at(const struct share *s, uint64_t i);

struct dealer {
	struct shard shard;
	uint64_t *loads; /* by shard: what it costs so far */
	uint64_t total;
	uint64_t next;      /* number of what is dealt out next */
	uint64_t together;  /* so many stay together: those of a window; 0: 1 */
	uint64_t span_cost; /* of the present span */
	uint32_t owner;     /* of the present span, from 0 */
	bool has_span;
};

void dealer_init(struct dealer *d, struct shard s);
/* Deals out one more, of this cost; ours goes to the share. True: it is ours. */
bool dealer_add(struct dealer *d, uint64_t cost, struct share *own);
void dealer_release(struct dealer *d);

#endif
