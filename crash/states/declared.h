/* Stores of which the program says that losing them does not matter, noted on the way through a
 * trace. */
#ifndef CRASH_STATES_DECLARED_H
#define CRASH_STATES_DECLARED_H

#include "model/model.h"
#include "util/vec.h"

struct declared_range {
	uint64_t from, to;
};

/* Bytes of a store. */
struct declared_bytes {
	uint64_t seq, from, to;
};
typedef VEC(struct declared_bytes) declared_list;

struct declared {
	VEC(struct declared_range) volatiles; /* PMEND_IGNORE: what is stored there later, too */
	declared_list bytes;                  /* that were declared */
	declared_list all; /* of the same stores: what could be lost when they were */
};

/* m: as it is before the event. */
void declared_step(struct declared *d, const struct model *m, const struct trace_event *ev);
/* At the end: what was declared, sorted, no two of them adjacent. */
void declared_end(struct declared *d);
/* All of these bytes of a store were, in a list that declared_end() sorted. */
bool declared_has(const declared_list *list, uint64_t seq, uint64_t from, uint64_t to);
/* After declared_end(): calls f for each store of which all was declared that could be lost, in
 * order. */
void declared_each_whole(const struct declared *d, void (*f)(uint64_t seq, void *arg), void *arg);
void declared_release(struct declared *d);

#endif
