/* What the files of the graph share. Each file uses only those before it: objects.c, edges.c,
 * calls.c, sets.c and distances.c, graph.c. */
#ifndef EXPLORE_GRAPH_INTERNAL_H
#define EXPLORE_GRAPH_INTERNAL_H

#include "explore/graph/code.h"
#include "explore/graph/graph.h"
#include "util/map.h"

struct object {
	struct code code;
	uint32_t first; /* number of its first block in the graph */
	bool is_read, is_left_out;
};

struct pm_insn {
	place at;
	uint32_t block;
	bool is_covered;
	bool is_call; /* at is the call's last byte; covered as soon as its block was run */
	/* a call of a library function that modified PM when it was called elsewhere */
	bool is_maybe;
};

struct edge {
	uint32_t from, to;
};

typedef VEC(struct edge) edges;
typedef VEC(uint32_t) distances; /* per block; UINT32_MAX if there is no way */

struct graph {
	struct objects *names;
	char *cache;
	VEC(struct object) objects;
	VEC(struct path_jump) jumps; /* learned from runs */
	struct map known_jumps;
	VEC(struct pm_insn) pm;
	struct map by_place; /* place → index in pm + 1 */
	/* hashes of names of library functions that were seen to modify PM */
	struct map modifiers;
	uint32_t nblocks;
	bool is_stale, is_covered_stale, is_distance_stale, is_unrun_stale;
	VEC(bool) was_run; /* per block; blocks beyond the end were not run */
	/* what is computed from the edges */
	VEC(uint32_t) set_of; /* set of each block; UINT32_MAX until it is known */
	/* sets of nwords words; the first is empty; components that reach the same share a set */
	VEC(uint64_t) sets;
	size_t nwords, nsets;
	VEC(uint64_t) uncovered, scratch;
	VEC(struct edge) back;    /* reversed edges, sorted by block */
	VEC(uint32_t) back_first; /* index of a block's first reversed edge; one more at the end */
	/* distance to the next uncovered, or to any, PM-modifying instruction */
	distances to_new, to_any;
	/* distance to the next block that was not run, in a function near PM */
	distances to_unrun;
	VEC(uint32_t) queue;
};

/* ---- objects.c ---- */
/* Finds the object of the place, and reads the object if it is new. NULL: the object is left
 * out. */
struct object *graph_object(struct graph *g, place p);
uint32_t graph_block(struct graph *g, place p); /* UINT32_MAX if unknown */

/* Adds a PM-modifying instruction; does nothing if its place is known. */
void graph_pm_add(struct graph *g, const struct pm_insn *insn);

/* ---- calls.c: calls of functions that modify PM ---- */
void graph_calls_find(struct graph *g);
bool graph_is_covered(const struct graph *g, const struct pm_insn *insn);

/* ---- edges.c: edges between blocks ---- */
uint64_t graph_name_hash(const char *s);
void graph_edges_gather(struct graph *g, edges *all);
/* Orders edges by the block from which they come, then by the block to which they lead. */
int graph_edges_compare(const void *a, const void *b);

/* ---- sets.c: what each block reaches ---- */
void graph_sets_find(struct graph *g, edges *all); /* sorts the edges, and fills set_of and sets */

/* ---- distances.c ---- */
void graph_back_fill(struct graph *g, const edges *all); /* fills the reversed edges */
/* Fills d with the distance of each block to the next PM-modifying instruction: to any, or to one
 * that no run executed. */
void graph_distances_find(struct graph *g, distances *d, bool is_any);
void graph_unrun_find(struct graph *g);
/* Is one of the object's blocks, from `first` up to address `to`, near a PM-modifying
 * instruction? */
bool graph_blocks_are_near(const struct graph *g, const struct object *o, uint32_t first,
			   uint64_t to);

#endif
