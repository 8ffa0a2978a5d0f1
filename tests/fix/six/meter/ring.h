/* ring.h - a ring of records in persistent memory. Who puts and who takes one does so in a function of his own. */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>

#define RING_SLOTS 4
#define RING_BODY 104

struct ring_slot {
	uint64_t number; /* of the record, from 0 on */
	uint64_t len;
	uint64_t sum; /* of the body */
	char body[RING_BODY];
};

struct ring {
	uint64_t head; /* records that were put */
	uint64_t tail; /* records that were taken */
	char pad[48];
	struct ring_slot slots[RING_SLOTS];
};

/* Fills the body of a record, returns its length. */
typedef size_t (*ring_fill_fn)(char *body, size_t capacity, void *ctx);
/* Is given each record once; if there is a crash in between, the same record once more. */
typedef void (*ring_take_fn)(const char *body, size_t len, void *ctx);

int ring_put(struct ring *r, ring_fill_fn fill, void *ctx);
int ring_take(struct ring *r, ring_take_fn take, void *ctx);
int ring_check(const struct ring *r);

/* Waits until it is durable. */
void ring_sync(const void *p, size_t n);

#endif
