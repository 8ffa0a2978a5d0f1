/* The shape of a behaviour is what remains without instance and time: which fields of which type
 * are updated, and in which order they must become durable. A test of one behaviour can stand for
 * another if it has all of the other's updates and no ordering that the other lacks.
 *
 * Consecutive stores to one field by one instruction (a copied string) are one update. From the
 * SHAPE_SAME-th on, all updates of one field are one, because loops of different lengths do the
 * same. Besides the orderings among the updates there are orderings with the outside: an update
 * that becomes durable only after the program stored elsewhere, or acknowledged the operation, is
 * less ordered than one that is durable before. Otherwise a single store that is never flushed
 * would look like any other store to its field. */
#ifndef CRASH_REPRESENTATIVE_SHAPE_H
#define CRASH_REPRESENTATIVE_SHAPE_H

#include "crash/representative/epochs.h"

#define SHAPE_SAME 4u
#define SHAPE_MAX 256u

enum shape_outside {
	SHAPE_DURABLE = 1,      /* at some time */
	SHAPE_FIRST_FENCE = 2,  /* by the first event after it that makes anything durable */
	SHAPE_ACKNOWLEDGED = 4, /* before the next acknowledgement */
	SHAPE_OTHERS = 8,       /* before stores to other objects, except those of shape.others */
	/* like being durable before everything: it changes nothing, so its loss is invisible */
	SHAPE_SILENT = 16,
};

struct shape {
	uint32_t type;
	uint32_t n; /* updates */
	uint32_t *fields;
	uint32_t *sites;  /* of the first store of each update; not a part of the shape */
	uint8_t *outside; /* sets of enum shape_outside, without SHAPE_OTHERS */
	/* for each update: the places that store to other objects while it is not durable,
	 * ascending */
	uint32_t *others;
	uint32_t *others_at; /* n + 1 indices in others */
	/* n rows of SHAPE_WORDS(n) words: bit j of row i means that i must be durable before j */
	uint64_t *before;
	/* number of all orderings; others subtract from it */
	uint64_t norders;
	uint64_t hash; /* of everything except the sites */
};
#define SHAPE_WORDS(n) (((n) + 63) / 64)

/* The trace data from which shapes are computed. */
struct shape_setting {
	const struct graph *graph;
	const uint64_t *acks; /* events that acknowledge, ascending */
	size_t nacks;
	/* which orderings with the outside count: a set of enum shape_outside; 0: none, as in the
	 * paper */
	uint8_t outside;
};
#define SHAPE_OUTSIDE_ALL 31u
/* stores after an update that are examined, up to the second acknowledgement */
#define SHAPE_OTHERS_MAX 32u

void shape_init(struct shape *s, const struct shape_setting *in, const struct behaviour *b);
void shape_release(struct shape *s);
bool shape_same(const struct shape *a, const struct shape *b);
/* Does a test of r show what a test of a would? */
bool shape_represents(const struct shape *r, const struct shape *a);

static inline bool shape_before(const struct shape *s, uint32_t i, uint32_t j)
{
	return s->before[(size_t)i * SHAPE_WORDS(s->n) + j / 64] >> j % 64 & 1;
}

#endif
