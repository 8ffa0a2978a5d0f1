/* What the files of the graph share. Bottom first: objects.c, edges.c, calls.c, sets.c and
 * distances.c, graph.c. */
#ifndef EXPLORE_GRAPH_INTERNAL_H
#define EXPLORE_GRAPH_INTERNAL_H

#include "explore/graph/code.h"
#include "explore/graph/graph.h"
#include "util/map.h"

struct object {
	struct code code;
	uint32_t first; /* number of its first block */
	bool is_read, is_left_out;
};

struct pm_insn {
	place at;
	uint32_t block;
	bool is_covered;
	bool is_call; /* at: its last byte. Executed as soon as its block was run */
	/* a call of a library's function that modified PM when it was called elsewhere */
	bool is_maybe;
};

struct edge {
	uint32_t from, to;
};

typedef VEC(struct edge) edges;
typedef VEC(uint32_t) distances; /* of blocks; UINT32_MAX: no way leads there */

struct graph {
	struct objects *names;
	char *cache;
	VEC(struct object) objects;
	VEC(struct path_jump) jumps; /* learned */
	struct map known_jumps;
	VEC(struct pm_insn) pm;
	struct map by_place; /* index + 1 in pm */
	/* hashes of names: functions of libraries that were seen to modify PM */
	struct map modifiers;
	uint32_t nblocks;
	bool is_stale, is_covered_stale, is_distance_stale, is_unrun_stale;
	VEC(bool) was_run; /* by block; those behind its end were not */
	/* the result */
	VEC(uint32_t) set_of; /* of a block; UINT32_MAX while it is not known */
	/* nwords each; the first is empty; components that reach the same share one */
	VEC(uint64_t) sets;
	size_t nwords, nsets;
	VEC(uint64_t) uncovered, scratch;
	VEC(struct edge) back;    /* sorted by where they lead */
	VEC(uint32_t) back_first; /* of a block, and one more at the end */
	distances to_new, to_any; /* PM-modifying instruction: not covered, or whichever */
	distances to_unrun;       /* block that was not run, in a function that is near */
	VEC(uint32_t) queue;
};

/* ---- objects.c ---- */
/* reads it, if it is new; NULL: it is left out */
struct object *graph_object(struct graph *g, place p);
uint32_t graph_block(struct graph *g, place p); /* UINT32_MAX: unknown */

void graph_pm_add(struct graph *g, const struct pm_insn *insn); /* unless it is known */

/* ---- calls.c: calls of functions that modify PM ---- */
void graph_calls_find(struct graph *g);
bool graph_is_covered(const struct graph *g, const struct pm_insn *insn);

/* ---- edges.c ---- */
uint64_t graph_name_hash(const char *s);
void graph_edges_gather(struct graph *g, edges *all);
/* by where they come from, then by where they lead */
int graph_edges_compare(const void *a, const void *b);

/* ---- sets.c: what each block reaches ---- */
void graph_sets_find(struct graph *g, edges *all); /* sorts them, and fills set_of and sets */

/* ---- distances.c ---- */
void graph_back_fill(struct graph *g, const edges *all); /* edges the other way round */
/* to PM-modifying instructions: any, or those that no run executed */
void graph_distances_find(struct graph *g, distances *d, bool is_any);
void graph_unrun_find(struct graph *g);
/* Whether one of an object's blocks, from the first up to that address, is near a PM-modifying
 * instruction. */
bool graph_blocks_are_near(const struct graph *g, const struct object *o, uint32_t first,
			   uint64_t to);

#endif
