/* The control flow of a program's objects, from their machine code: how many PM-modifying
 * instructions that no run executed yet can be reached from a place. Calls lead into the function
 * and to the instruction after it; what indirect jumps lead to is learned from runs. Cycles are
 * collapsed, and each instruction counts once, however many ways lead to it. */
#ifndef EXPLORE_GRAPH_H
#define EXPLORE_GRAPH_H

#include "explore/graph/lines.h"
#include "explore/path/path.h"

struct graph;

/* cache: a folder for what the machine code of an object comes to, by build-id; NULL: none. */
struct graph *graph_new(struct objects *objects, const char *cache);
void graph_free(struct graph *g);
uint64_t graph_key(const struct graph *g, place p); /* objects_key() */

void graph_jump(struct graph *g, place from, place to);
/* of an object whose code is known, which the C library's is not */
bool graph_is_own(struct graph *g, place p);
/* Whether what a jump table holds can be one of its targets: in the same function, or where another
 * one begins. */
bool graph_can_jump(struct graph *g, place from, place to);
/* The stores of this object at these addresses of its own numbering may modify PM. */
void graph_suspect(struct graph *g, place object, const struct lines_ranges *ranges);
/* This instruction modifies PM; a run executed it. Or: within this call, which the place is the
 * last byte of, a library did. */
void graph_cover(struct graph *g, place instruction);
void graph_run(struct graph *g, const struct path_block *block); /* it was run */
/* Blocks on the shortest way from there to one that was never run, in a function that is near
 * (below); UINT32_MAX: there is none. */
uint32_t graph_distance_unrun(struct graph *g, place from);
/* Of all places together. Places of objects that cannot be read reach nothing. */
uint64_t graph_reach(struct graph *g, const place *from, size_t n);
/* from there, and not from the other place */
uint64_t graph_reach_only(struct graph *g, place from, place without);
/* Blocks on the shortest way from there to such an instruction; UINT32_MAX: there is none. */
uint32_t graph_distance(struct graph *g, place from);
/* Whether the function there has or calls a PM-modifying instruction that is known, executed or
 * not. */
bool graph_is_near(struct graph *g, place p);
uint64_t graph_ncovered(const struct graph *g);
/* PM-modifying instructions, and calls of functions that have or are such */
uint64_t graph_nknown(const struct graph *g);

#endif
