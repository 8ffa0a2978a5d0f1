/* What the program did around a crash: its stores and acknowledgements from the oldest lost store to the first store after the crash. They are read
 * once for a failure point, and kept for the other states of it. */
#ifndef CRASH_SEARCH_AROUND_H
#define CRASH_SEARCH_AROUND_H

#include "crash/states/walk.h"

struct crash_store {
	uint64_t seq;
	uint32_t site; /* id in the trace, 0: none */
};

static inline uint32_t site_id(const struct trace_site *s)
{
	return s ? s->id : 0;
}

/* As seen from one state. seq 0: there is none. */
struct surroundings {
	struct crash_store before,
		after; /* the last store before the oldest lost one; the first one after the crash */
	struct crash_store
		survivor; /* the last one before the crash that is not lost, if it is later than the oldest lost one */
	struct crash_store
		acknowledged; /* the first output or end of an operation after the oldest lost one, before the crash */
};

struct around_event {
	struct crash_store store;
	bool is_acknowledgement;
};

/* What was read last. Zero-initialised is nothing. */
struct around {
	uint64_t crash_seq, from_seq;
	struct crash_store before; /* from_seq */
	VEC(struct around_event) events;
};
void around_release(struct around *a);
/* At the failure point of the walk. lost: sorted; if nothing is lost, the crash stands for the oldest lost store. */
void around_look(struct around *a, const struct walk *w, const struct crash_store *lost,
		 size_t nlost, struct surroundings *out);

#endif
