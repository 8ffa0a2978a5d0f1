/* Finds what the program did around a crash: its stores and acknowledgements from the oldest lost
 * store to the first store after the crash. They are read once per failure point and kept for its
 * other states. */
#ifndef CRASH_SEARCH_SURROUNDINGS_H
#define CRASH_SEARCH_SURROUNDINGS_H

#include "crash/states/walk.h"

struct crash_store {
	uint64_t seq;
	uint32_t site; /* site id; 0: none */
};

/* Compares two stores by their events, for qsort(). */
static inline int crash_store_order(const void *a, const void *b)
{
	const struct crash_store *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static inline uint32_t site_id(const struct trace_site *s)
{
	return s ? s->id : 0;
}

/* The surroundings as seen from one state. seq 0: there is no such event. */
struct surroundings {
	/* the last store before the oldest lost one; the first store after the crash */
	struct crash_store before, after;
	/* the last store before the crash that is not lost, if it is later than the oldest lost
	 * one */
	struct crash_store survivor;
	/* the first output or end of an operation between the oldest lost store and the crash: of
	 * the thread that stored, else of one that has loaded the bytes since, else of any */
	struct crash_store acknowledged;
};

struct surroundings_event {
	struct crash_store store;
	enum { SURROUNDINGS_STORE, SURROUNDINGS_LOAD, SURROUNDINGS_ACKNOWLEDGEMENT } what;
	uint32_t stream, thread;
	uint64_t addr;
	uint32_t size_bytes;
};

/* What was read last. Zero-initialised: nothing. */
struct surroundings_read {
	uint64_t crash_seq, from_seq;
	struct crash_store before; /* the store before from_seq */
	VEC(struct surroundings_event) events;
};
void surroundings_release(struct surroundings_read *a);
/* Fills the surroundings at the walk's failure point. lost: ascending; if nothing is lost, the
 * crash takes the place of the oldest lost store. */
void surroundings_look(struct surroundings_read *a, const struct walk *w,
		       const struct crash_store *lost, size_t nlost, struct surroundings *out);

#endif
