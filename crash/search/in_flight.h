/* Operations of several threads in flight at once: what a dump may print after a crash then. Any of
 * them may have taken effect, in any order that agrees with which ended before which began. The
 * recorded run shows one of these outcomes; the others are put together from it. */
#ifndef CRASH_SEARCH_IN_FLIGHT_H
#define CRASH_SEARCH_IN_FLIGHT_H

#include "crash/search/dump_texts.h"
#include "crash/states/states.h"
#include "crash/search/verdict.h"
#include "crash/states/walk.h"

/* The same operations are in flight for crashes before events first_seq + 1 to last_seq. */
struct in_flight_stretch {
	uint64_t first_seq, last_seq;
	struct allowed allowed; /* none: too many to tell */
};

struct in_flight {
	VEC(struct in_flight_stretch) list; /* by first_seq */
};

/* texts: takes what the dumps printed, NULL: not wanted. deadline_ns: when to give up, 0: never. */
int in_flight_take(struct in_flight *f, const struct plan *p, struct runner *runner,
		   const struct recovery *c, struct dump_texts *texts, uint64_t deadline_ns,
		   struct error *err);
void in_flight_release(struct in_flight *f);
/* NULL: at most one operation is in flight */
const struct in_flight_stretch *in_flight_find(const struct in_flight *f, uint64_t seq);

#endif
