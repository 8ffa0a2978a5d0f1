/* Update behaviours, sorted into groups that one of them represents. Behaviours of one shape are a
 * *kind*; those of a kind that come from the same places in the program are a *variant*, of which
 * the first is kept. So memory grows with what is different, not with the run.
 *
 * Kinds are looked at from the largest to the smallest (with the fewest orderings first); each
 * joins every group whose representative stands for it, and founds a group if there is none. */
#ifndef CRASH_REPRESENTATIVE_GROUPS_H
#define CRASH_REPRESENTATIVE_GROUPS_H

#include "crash/representative/shape.h"

struct variant {
	uint32_t kind;
	uint64_t count;    /* behaviours */
	uint64_t instance; /* of the first of them, as is what follows */
	uint64_t first_seq;
	uint64_t *seqs; /* its stores */
	size_t nseqs;
	uint32_t *sites; /* sorted, distinct */
	size_t nsites;
};

struct kind {
	struct shape shape;
	uint64_t count; /* behaviours */
	VEC(uint32_t) variants;
	VEC(uint32_t) groups; /* that it is in */
};

struct group {
	uint32_t kind;         /* the representative's */
	VEC(uint32_t) members; /* kinds, with its own */
	uint64_t count;        /* behaviours */
};

struct groups {
	struct shape_setting setting;
	VEC(struct kind) kinds;
	VEC(struct variant) variants;
	/* groups_end(): the one whose representative stands for most others first */
	VEC(struct group) groups;
	uint64_t nbehaviours;
	/* hash: index + 1 of the first; others follow by the next hash */
	struct map by_shape, by_places;
};

void groups_init(struct groups *g, const struct shape_setting *setting);
void groups_add(const struct behaviour *b, void *groups); /* for epochs_init() */
void groups_end(struct groups *g);
void groups_release(struct groups *g);

#endif
