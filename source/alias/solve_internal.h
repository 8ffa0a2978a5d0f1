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

/* What happens for every location that a node points to. */
struct rule {
	enum rule_kind kind;
	uint32_t other;
	int64_t bytes;
	bool is_stride; /* a step that a circle makes a copy */
};

struct node {
	uint32_t parent;          /* itself, or the node that it was made one with */
	struct set points, fresh; /* fresh: not passed on yet */
	VEC(uint32_t) copies;     /* to these */
	VEC(struct rule) rules;
	uint32_t object; /* of a location; 0: a variable */
	int64_t offset;
	bool is_queued;
};

/* New fields of an object are copied here as well. */
struct watcher {
	int64_t from_offset;
	uint32_t to;
};

struct object {
	enum solve_kind kind;
	const char *name;
	bool is_flat;
	VEC(uint32_t) fields; /* locations */
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
	uint64_t work, work_max;      /* elements of sets that were looked at, and may be */
	uint64_t asked;               /* the work when the watch was asked */
	bool (*may_go_on)(void *arg); /* NULL: nobody watches */
	void *watch;
};

/* solve_graph.c */
uint32_t node_find(const struct solver *s, uint32_t n); /* the node that n was made one with */
void node_enqueue(struct solver *s, uint32_t n);        /* it has locations to pass on */
void node_unify(struct solver *s, uint32_t a, uint32_t b);
/* copies all fields from a location on, also those to come */
void object_duplicate(struct solver *s, uint32_t to, uint32_t from);

/* solve_circles.c: makes nodes one that copy to each other in a circle. */
void circles_collapse(struct solver *s);

#endif
