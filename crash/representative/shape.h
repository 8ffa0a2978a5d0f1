/* What remains of a behaviour when instance and time are forgotten: which fields of which type are
 * updated, and under which orderings. One behaviour can be tested on behalf of another if it has
 * all of the other's updates and no ordering that the other lacks.
 *
 * A run of stores to one field by one instruction (a copied string) is one update, and so are all
 * from the SHAPE_SAME-th on to one field: loops of different lengths do the same. Besides the
 * orderings among the updates, there are those with what is outside of the object: an update that
 * is durable only after the program went on elsewhere, or acknowledged the operation, is less
 * ordered than one that is durable before. Without them, a single store that is forgotten to be
 * flushed would look like any other to its field. */
#ifndef CRASH_REPRESENTATIVE_SHAPE_H
#define CRASH_REPRESENTATIVE_SHAPE_H

#include "crash/representative/epochs.h"

#define SHAPE_SAME 4u
#define SHAPE_MAX 256u

enum shape_outside {
	SHAPE_DURABLE = 1,      /* at some time */
	SHAPE_FIRST_FENCE = 2,  /* by the first event after it that makes anything durable */
	SHAPE_ACKNOWLEDGED = 4, /* before the next acknowledgement */
	SHAPE_OTHERS = 8,       /* before stores to other objects: all but those of shape.others */
	/* as good as before everything: it changes nothing, so that nobody can tell whether it was
	 * lost */
	SHAPE_SILENT = 16,
};

struct shape {
	uint32_t type;
	uint32_t n; /* updates */
	uint32_t *fields;
	uint32_t *sites;  /* of the first store of each; not a part of the shape */
	uint8_t *outside; /* sets of enum shape_outside, without SHAPE_OTHERS */
	/* for each update: the places that store to other objects while it is not durable,
	 * sorted */
	uint32_t *others;
	uint32_t *others_at; /* n + 1 indices in it */
	/* n rows of SHAPE_WORDS(n) words: bit j of row i says that i must be durable before j */
	uint64_t *before;
	/* how many orderings there are in all, without those that others lacks */
	uint64_t norders;
	uint64_t hash; /* of all but the sites */
};
#define SHAPE_WORDS(n) (((n) + 63) / 64)

/* What shapes are made against. */
struct shape_setting {
	const struct graph *graph;
	const uint64_t *acks; /* the events that acknowledge, sorted */
	size_t nacks;
	/* which orderings with the outside count: a set of enum shape_outside; 0: none, as the
	 * paper has it */
	uint8_t outside;
};
#define SHAPE_OUTSIDE_ALL 31u
/* stores after an update that are looked at, before the next acknowledgement but one */
#define SHAPE_OTHERS_MAX 32u

void shape_init(struct shape *s, const struct shape_setting *in, const struct behaviour *b);
void shape_release(struct shape *s);
bool shape_same(const struct shape *a, const struct shape *b);
/* A test of r shows what one of a would. */
bool shape_represents(const struct shape *r, const struct shape *a);

static inline bool shape_before(const struct shape *s, uint32_t i, uint32_t j)
{
	return s->before[(size_t)i * SHAPE_WORDS(s->n) + j / 64] >> j % 64 & 1;
}

#endif
