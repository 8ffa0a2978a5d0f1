/* The graph that the solver works on: nodes with their sets, edges along which sets are copied, and
 * objects with their fields. */
#ifndef SOURCE_ALIAS_SOLVE_INTERNAL_H
#define SOURCE_ALIAS_SOLVE_INTERNAL_H

#include "source/alias/set.h"
#include "source/alias/solve.h"
#include "util/map.h"
#include "util/vec.h"

enum rule_kind {
	RULE_LOAD,
	RULE_STORE,
	RULE_STEP,
	RULE_DUPLICATE_TO,
	RULE_DUPLICATE_FROM,
	RULE_CALL
};

/* What happens for each location that a node points to. */
struct rule {
	enum rule_kind kind;
	uint32_t other;
	int64_t bytes;
	bool is_stride; /* a step that becomes a copy if it is part of a circle */
};

struct node {
	uint32_t parent;          /* itself, or the node that it was united with */
	struct set points, fresh; /* fresh: not passed on yet */
	VEC(uint32_t) copies;     /* nodes that receive the set */
	VEC(struct rule) rules;
	uint32_t object; /* of a location; 0 for a variable */
	int64_t offset;
	bool is_queued;
};

/* Later fields of an object, from this offset on, are copied to the location `to`. */
struct watcher {
	int64_t from_offset;
	uint32_t to;
};

struct object {
	enum solve_kind kind;
	const char *name;
	bool is_flat;
	VEC(uint32_t) fields; /* nodes of its locations */
	VEC(struct watcher) watchers;
};

struct solver {
	solve_on_call on_call;
	void *owner;
	VEC(struct node) nodes;
	VEC(struct object) objects;
	VEC(uint32_t) queue;
	struct map edges, duplicates;
	size_t nedges_since;
	struct set result;
	uint64_t work, work_max;      /* elements of sets looked at so far, and allowed */
	uint64_t asked;               /* value of work when the watch was last asked */
	bool (*may_go_on)(void *arg); /* NULL without a watch */
	void *watch;
};

/* solve_graph.c: gives the node into which n was united, or n itself */
uint32_t node_find(const struct solver *s, uint32_t n); /* the node that n was united with */
void node_enqueue(struct solver *s, uint32_t n);        /* it has new locations to pass on */
void node_unify(struct solver *s, uint32_t a, uint32_t b);
/* Copies all fields from the location `from` on to those of the location `to`. Fields that are
 * added later are copied, too. */
void object_duplicate(struct solver *s, uint32_t to, uint32_t from);

/* solve_circles.c: unites nodes that copy to each other in a circle. */
void circles_collapse(struct solver *s);

#endif
