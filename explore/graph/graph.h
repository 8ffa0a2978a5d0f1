/* The control flow graph of a program, from the machine code of its objects. It tells how many
 * PM-modifying instructions that no run executed yet are reachable from a place. A call leads into
 * the function and to the next instruction; the targets of indirect jumps are learned from runs.
 * Cycles are collapsed. An instruction counts once, even if several paths lead to it. */
#ifndef EXPLORE_GRAPH_H
#define EXPLORE_GRAPH_H

#include "explore/graph/lines.h"
#include "explore/path/path.h"

struct graph;

/* Makes an empty graph. cache: a folder that keeps what was read from machine code, or NULL. */
struct graph *graph_new(struct objects *objects, const char *cache);
void graph_free(struct graph *g);
uint64_t graph_key(const struct graph *g, place p); /* see objects_key() */

void graph_jump(struct graph *g, place from, place to);
/* Asks whether the place is in code that the graph knows. The C library is left out of the
 * graph. */
bool graph_is_own(struct graph *g, place p);
/* Can an entry of a jump table be a target of the jump? It must be in the same function, or begin
 * another one. */
bool graph_can_jump(struct graph *g, place from, place to);
/* Says that stores at these addresses of the object may modify PM. */
void graph_suspect(struct graph *g, place object, const struct lines_ranges *ranges);
/* Says that a run executed this PM-modifying instruction, or that a library function called from
 * here modified PM; the place is then the last byte of the call. */
void graph_cover(struct graph *g, place instruction);
/* Says that a run executed this block. */
void graph_run(struct graph *g, const struct path_block *block);
/* Counts the blocks on the shortest way to a block that no run has executed, in a function for
 * which graph_is_near() holds. UINT32_MAX if there is no way. */
uint32_t graph_distance_unrun(struct graph *g, place from);
/* Counts the uncovered PM-modifying instructions that the places reach together. A place in an
 * object that cannot be read reaches none. */
uint64_t graph_reach(struct graph *g, const place *from, size_t n);
/* Counts the uncovered PM-modifying instructions that `from` reaches and `without` does not. */
uint64_t graph_reach_only(struct graph *g, place from, place without);
/* Counts the blocks on the shortest way to an uncovered PM-modifying instruction; UINT32_MAX if
 * there is no way. */
uint32_t graph_distance(struct graph *g, place from);
/* Does the function at this place contain or call a PM-modifying instruction, executed or not? */
bool graph_is_near(struct graph *g, place p);
uint64_t graph_ncovered(const struct graph *g);
/* Counts all PM-modifying instructions, and the calls of functions that contain one. */
uint64_t graph_nknown(const struct graph *g);

#endif
