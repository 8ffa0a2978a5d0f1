/* Keeps the content of a sparse file, in pages that are created when something is stored to
 * them. */
#ifndef POOLS_UNSEEN_PAGES_H
#define POOLS_UNSEEN_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

#define PAGES_BYTES 4096u

/* Memory for pages, shared by several files. */
struct pages_room {
	VEC(uint8_t *) regions;
	uint8_t *next, *end;
};

struct pages {
	struct pages_room *room;
	uint8_t **at; /* by page number; NULL: zeros */
	uint64_t n;   /* number of pages; stores beyond are dropped */
};

void pages_init(struct pages *p, struct pages_room *room, uint64_t len_bytes);
/* Prepares a store to an offset: pages_prefetch_place() fetches the pointer to the page into the
 * cache, pages_prefetch() the page itself. */
static inline void pages_prefetch_place(const struct pages *p, uint64_t offset)
{
	__builtin_prefetch(&p->at[offset / PAGES_BYTES]);
}
static inline void pages_prefetch(const struct pages *p, uint64_t offset)
{
	const uint8_t *page = offset / PAGES_BYTES < p->n ? p->at[offset / PAGES_BYTES] : NULL;

	if (page)
		__builtin_prefetch(page + offset % PAGES_BYTES, 1);
}
void pages_write(struct pages *p, uint64_t offset, const uint8_t *bytes, size_t len_bytes);
void pages_zero(struct pages *p, uint64_t from, uint64_t to);
void pages_release(struct pages *p);
void pages_room_release(struct pages_room *room);

#endif
