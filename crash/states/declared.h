/* Stores of which the program says that losing them does not matter, noted on the way through a trace. */
#ifndef CRASH_STATES_DECLARED_H
#define CRASH_STATES_DECLARED_H

#include "model/model.h"
#include "util/vec.h"

struct declared_range {
	uint64_t from, to;
};

struct declared {
	VEC(struct declared_range) volatiles; /* PMEND_IGNORE: what is stored there later, too */
	VEC(uint64_t) seqs;
};

/* m: as it is before the event. */
void declared_step(struct declared *d, const struct model *m, const struct trace_event *ev);
void declared_release(struct declared *d);

#endif
