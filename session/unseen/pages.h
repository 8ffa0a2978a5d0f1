/* The content of a sparse file, in pages that are made when something is stored to them. */
#ifndef SESSION_UNSEEN_PAGES_H
#define SESSION_UNSEEN_PAGES_H

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
void pages_write(struct pages *p, uint64_t offset, const uint8_t *bytes, size_t len_bytes);
void pages_zero(struct pages *p, uint64_t from, uint64_t to);
void pages_release(struct pages *p);
void pages_room_release(struct pages_room *room);

#endif
