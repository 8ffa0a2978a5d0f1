/* Fills a pool with unused things (pool.h), many at a time if they are small. Things are handed out
 * in the order of their addresses. */
#include "model/pool.h"

#define POOL_CHUNK 64u
#define POOL_CHUNK_BYTES (16u << 10) /* a chunk is at most so large, or one thing */

void pool_fill(struct pool *p, struct arena *a)
{
	size_t n = POOL_CHUNK * p->size_bytes <= POOL_CHUNK_BYTES
			   ? POOL_CHUNK
			   : POOL_CHUNK_BYTES / p->size_bytes;
	char *chunk = arena_alloc(a, (n ? n : 1) * p->size_bytes);

	for (size_t i = n ? n : 1; i-- > 0;)
		pool_put(p, chunk + i * p->size_bytes);
}
