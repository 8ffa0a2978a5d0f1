/* Finds out what a dump may print after a crash while operations of several threads are in flight.
 * All that were acknowledged before the crash have taken effect; each one in flight has, as a
 * whole, or has not. */
#ifndef CRASH_SEARCH_IN_FLIGHT_H
#define CRASH_SEARCH_IN_FLIGHT_H

#include "crash/search/dump_texts.h"
#include "crash/states/states.h"
#include "crash/search/verdict.h"
#include "crash/states/walk.h"
#include "util/map.h"

/* outcomes that are built for one moment */
#define IN_FLIGHT_OUTCOMES 4096u

/* A crash before event seq. */
struct in_flight_moment {
	uint64_t seq;
	struct allowed allowed; /* empty: the outcomes are too many, or could not be built */
};

/* What came of a state that was built. */
struct in_flight_outcome {
	uint64_t hash; /* of the dump */
	bool is_known; /* recovery copes with it */
};

struct in_flight {
	VEC(struct in_flight_moment) list; /* ascending seq */
	VEC(struct in_flight_outcome) outcomes;
	struct map by_content; /* content of the files → index in outcomes plus 1 */
};

/* Computes what a dump may print after a crash at each of these moments (ascending events) that is
 * not known yet. texts: gets what the dumps printed; NULL: not wanted. deadline_ns: when to give
 * up; 0: never. */
int in_flight_take(struct in_flight *f, const struct plan *p, struct runner *runner,
		   const struct recovery *c, struct dump_texts *texts, uint64_t deadline_ns,
		   const uint64_t *moments, size_t nmoments, struct error *err);
void in_flight_release(struct in_flight *f);
/* Finds what is known of a crash before event seq; NULL: nothing. */
const struct in_flight_moment *in_flight_find(const struct in_flight *f, uint64_t seq);
/* The index of the first moment at or after event seq. */
size_t in_flight_first(const struct in_flight *f, uint64_t seq);

#endif
