/* Finds out what a dump may print after a crash while operations of several threads are in flight.
 * Each of them may have taken effect or not, in any order in which an operation that ended first
 * comes first. The recorded run shows one of these outcomes; the others are computed from it. */
#ifndef CRASH_SEARCH_IN_FLIGHT_H
#define CRASH_SEARCH_IN_FLIGHT_H

#include "crash/search/dump_texts.h"
#include "crash/states/states.h"
#include "crash/search/verdict.h"
#include "crash/states/walk.h"

/* A stretch of the trace: the same operations are in flight for crashes before events first_seq + 1
 * to last_seq. */
struct in_flight_stretch {
	uint64_t first_seq, last_seq;
	struct allowed allowed; /* empty: too many operations to compute it */
};

struct in_flight {
	VEC(struct in_flight_stretch) list; /* ascending first_seq */
};

/* Computes, for all stretches of the trace with several operations in flight, what a dump may
 * print. texts: gets what the dumps printed; NULL: not wanted. deadline_ns: when to give up; 0:
 * never. */
int in_flight_take(struct in_flight *f, const struct plan *p, struct runner *runner,
		   const struct recovery *c, struct dump_texts *texts, uint64_t deadline_ns,
		   struct error *err);
void in_flight_release(struct in_flight *f);
/* Finds the stretch in which a crash before event seq is; NULL: at most one operation is in
 * flight. */
const struct in_flight_stretch *in_flight_find(const struct in_flight *f, uint64_t seq);

#endif
