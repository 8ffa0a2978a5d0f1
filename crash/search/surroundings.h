/* What the program did around a crash: its stores and acknowledgements from the oldest lost store
 * to the first store after the crash. They are read once for a failure point, and kept for the
 * other states of it. */
#ifndef CRASH_SEARCH_SURROUNDINGS_H
#define CRASH_SEARCH_SURROUNDINGS_H

#include "crash/states/walk.h"

struct crash_store {
	uint64_t seq;
	uint32_t site; /* id in the trace, 0: none */
};

/* for qsort: by event */
static inline int crash_store_order(const void *a, const void *b)
{
	const struct crash_store *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static inline uint32_t site_id(const struct trace_site *s)
{
	return s ? s->id : 0;
}

/* As seen from one state. seq 0: there is none. */
struct surroundings {
	/* the last store before the oldest lost one; the first one after the crash */
	struct crash_store before, after;
	/* the last one before the crash that is not lost, if it is later than the oldest lost
	 * one */
	struct crash_store survivor;
	/* the first output or end of an operation after the oldest lost one, before the crash */
	struct crash_store acknowledged;
};

struct surroundings_event {
	struct crash_store store;
	bool is_acknowledgement;
};

/* What was read last. Zero-initialised is nothing. */
struct surroundings_read {
	uint64_t crash_seq, from_seq;
	struct crash_store before; /* from_seq */
	VEC(struct surroundings_event) events;
};
void surroundings_release(struct surroundings_read *a);
/* At the failure point of the walk. lost: sorted; if nothing is lost, the crash stands for the
 * oldest lost store. */
void surroundings_look(struct surroundings_read *a, const struct walk *w,
		       const struct crash_store *lost, size_t nlost, struct surroundings *out);

#endif
