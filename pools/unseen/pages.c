/* Keeps pages side by side in large mappings, wherever they are in the file. Single pages would
 * cost a fault each, which would be most of the cost of replaying a trace. */
#include "pools/unseen/pages.h"

#include <string.h>
#include <sys/mman.h>

#define REGION_BYTES ((size_t)64 << 20)

static void *map_sparse(size_t len_bytes)
{
	void *p = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		alloc_die();
	return p;
}

static uint8_t *room_take(struct pages_room *room)
{
	uint8_t *page;

	if (room->next == room->end) {
		room->next = *vec_add(&room->regions) = map_sparse(REGION_BYTES);
		room->end = room->next + REGION_BYTES;
		madvise(room->next, REGION_BYTES, MADV_HUGEPAGE);
	}
	page = room->next;
	room->next += PAGES_BYTES;
	return page;
}

void pages_init(struct pages *p, struct pages_room *room, uint64_t len_bytes)
{
	*p = (struct pages){ .room = room, .n = (len_bytes + PAGES_BYTES - 1) / PAGES_BYTES };
	if (p->n > 0)
		p->at = map_sparse(p->n * sizeof *p->at);
}

void pages_write(struct pages *p, uint64_t offset, const uint8_t *bytes, size_t len_bytes)
{
	while (len_bytes > 0 && offset / PAGES_BYTES < p->n) {
		const size_t at = offset % PAGES_BYTES,
			     n = len_bytes < PAGES_BYTES - at ? len_bytes : PAGES_BYTES - at;
		uint8_t **page = &p->at[offset / PAGES_BYTES];

		if (!*page)
			*page = room_take(p->room);
		memcpy(*page + at, bytes, n);
		offset += n;
		bytes += n;
		len_bytes -= n;
	}
}

void pages_zero(struct pages *p, uint64_t from, uint64_t to)
{
	while (from < to && from / PAGES_BYTES < p->n) {
		const size_t at = from % PAGES_BYTES;
		const uint64_t n = to - from < PAGES_BYTES - at ? to - from : PAGES_BYTES - at;

		if (p->at[from / PAGES_BYTES])
			memset(p->at[from / PAGES_BYTES] + at, 0, n);
		from += n;
	}
}

void pages_release(struct pages *p)
{
	if (p->at)
		munmap(p->at, p->n * sizeof *p->at);
}

void pages_room_release(struct pages_room *room)
{
	for (size_t i = 0; i < room->regions.n; i++)
		munmap(room->regions.at[i], REGION_BYTES);
	vec_release(&room->regions);
}
