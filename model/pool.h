/* Reuses things of one size. They come from an arena, and are freed with it. */
#ifndef MODEL_POOL_H
#define MODEL_POOL_H

#include "util/alloc.h"

struct pool {
	size_t size_bytes; /* at least the size of a pointer */
	void *unused;
};

void pool_fill(struct pool *p, struct arena *a); /* called when nothing is unused */

/* Gives a thing back to the pool. Inline, because every store asks a pool. */
static inline void pool_put(struct pool *p, void *thing)
{
	*(void **)thing = p->unused;
	p->unused = thing;
}

static inline void *pool_get(struct pool *p, struct arena *a)
{
	void *thing;

	if (!p->unused)
		pool_fill(p, a);
	thing = p->unused;
	p->unused = *(void **)thing;
	return thing;
}

#endif
