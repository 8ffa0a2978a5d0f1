/* Sorts update behaviours into groups, each of which is represented by one of its behaviours.
 * Behaviours of one shape are a *kind*; those of a kind that come from the same places in the
 * program are a *variant*, of which only the first behaviour is kept. So memory grows with the
 * number of different behaviours, not with the run.
 *
 * Kinds are processed from the largest to the smallest (with the fewest orderings first). Each
 * joins every group whose representative stands for it, and founds a group if there is none. */
#ifndef CRASH_REPRESENTATIVE_GROUPS_H
#define CRASH_REPRESENTATIVE_GROUPS_H

#include "crash/representative/shape.h"

struct variant {
	uint32_t kind;
	uint64_t count;    /* behaviours */
	uint64_t instance; /* of the first behaviour, like all that follows */
	uint64_t first_seq;
	uint64_t *seqs; /* its stores */
	size_t nseqs;
	uint32_t *sites; /* ascending, distinct */
	size_t nsites;
};

struct kind {
	struct shape shape;
	uint64_t count; /* behaviours */
	VEC(uint32_t) variants;
	VEC(uint32_t) groups; /* to which it belongs */
};

struct group {
	uint32_t kind;         /* kind of the representative */
	VEC(uint32_t) members; /* kinds, including its own */
	uint64_t count;        /* behaviours */
};

struct groups {
	struct shape_setting setting;
	VEC(struct kind) kinds;
	VEC(struct variant) variants;
	/* ordered by groups_end(): the one whose representative stands for most others first */
	VEC(struct group) groups;
	uint64_t nbehaviours;
	/* hash → index + 1 of the first; others have the next hashes */
	struct map by_shape, by_places;
};

void groups_init(struct groups *g, const struct shape_setting *setting);
void groups_add(const struct behaviour *b, void *groups); /* a callback for epochs_init() */
void groups_end(struct groups *g);
void groups_release(struct groups *g);

#endif
