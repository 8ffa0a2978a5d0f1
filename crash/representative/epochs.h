/* Turns stores into update behaviours: a behaviour is the stores to one instance of one type that
 * belong together in time (an *epoch*). These are the paper's steps C1-C3, in one pass over the
 * stores of a graph. Each store is added once for every type that it belongs to.
 *
 * An instance's stores are split before store I
 *   1. if all its earlier stores are durable before I, and I updates a field that was updated in
 *      this epoch already, or
 *   2. if a store V to anything else comes between two updates U1 and U2 = I: U1 is durable before
 *      V is executed, and V is durable before I. Everything before V stays with U1, durable or
 *      not; everything after V goes with I.
 *
 *	a.x = 1; persist; b.y = 2; persist; a.x = 3         two epochs of a: {x = 1}, {x = 3}
 *	a.x = 1; a.z = 2; persist                           one epoch of a: {x = 1, z = 2}
 *
 * "Durable before" means by fences here, not by the order in a line, which the program did not ask
 * for. */
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
	/* in the order of execution; valid only during the call */
	const struct update *updates;
	size_t n;
};

struct epochs {
	const struct graph *graph;
	void (*on_behaviour)(const struct behaviour *b, void *arg);
	void *arg;
	struct map instances; /* address → list of instances of different types */
	VEC(struct instance *) all;
	size_t ndurable; /* durable events before the present store */
};

void epochs_init(struct epochs *e, const struct graph *g,
		 void (*on_behaviour)(const struct behaviour *b, void *arg), void *arg);
/* Adds a store to an instance. Stores come in order; the types of one store in any order. */
void epochs_add(struct epochs *e, uint32_t store, uint32_t type, uint64_t instance, uint32_t field);
void epochs_end(struct epochs *e); /* reports behaviours that are still open */
void epochs_release(struct epochs *e);

#endif
