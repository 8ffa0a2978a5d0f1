/* From stores to update behaviours: the stores to one instance of one type that belong together in
 * time (an *epoch*). The paper's steps C1-C3 in one pass over the stores of a graph: a store is
 * told once for each type that it belongs to.
 *
 * An instance's stores are split before store I
 *   1. if all its earlier stores are durable before I, and I updates a field that was updated in
 *      this epoch, and
 *   2. between U1 and U2 = I, if some store V to anything else comes between: U1 is durable before
 *      V is executed, and V before I. What was executed before V, durable or not, stays with U1;
 *      what came after V goes with I.
 * "Durable before" is meant in the sense of fences here, not of the order in a line: that the
 * program did not ask for. */
#ifndef CRASH_REPRESENTATIVE_EPOCHS_H
#define CRASH_REPRESENTATIVE_EPOCHS_H

#include "crash/representative/graph.h"
#include "util/map.h"

struct update {
	uint32_t store; /* index in the graph */
	uint32_t field;
};

struct behaviour {
	uint32_t type;
	uint64_t instance;
	/* in the order of execution; valid during the call that tells of it */
	const struct update *updates;
	size_t n;
};

struct epochs {
	const struct graph *graph;
	void (*on_behaviour)(const struct behaviour *b, void *arg);
	void *arg;
	struct map instances; /* by address: a list of those of different types */
	VEC(struct instance *) all;
	size_t ndurable; /* durable events before the store at hand */
};

void epochs_init(struct epochs *e, const struct graph *g,
		 void (*on_behaviour)(const struct behaviour *b, void *arg), void *arg);
/* In the order of stores; the types of one store in any order. */
void epochs_add(struct epochs *e, uint32_t store, uint32_t type, uint64_t instance, uint32_t field);
void epochs_end(struct epochs *e); /* tells of what is still open */
void epochs_release(struct epochs *e);

#endif
