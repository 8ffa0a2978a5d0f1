/* The content of a sparse file, in pages that are made when something is stored to them. */
#ifndef POOLS_UNSEEN_PAGES_H
#define POOLS_UNSEEN_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

#define PAGES_BYTES 4096u

/* Where pages come from, for several files. */
struct pages_room {
	VEC(uint8_t *) regions;
	uint8_t *next, *end;
};

struct pages {
	struct pages_room *room;
	uint8_t **at; /* by number; NULL: zeros */
	uint64_t n;   /* what is stored beyond is not kept */
};

void pages_init(struct pages *p, struct pages_room *room, uint64_t len_bytes);
/* Something will be written there soon: first where the page is, and then the page, is fetched
 * meanwhile. */
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
