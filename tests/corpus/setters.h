/* What setters.c stores through. Only the last function is to blame itself. */
#ifndef SETTERS_H
#define SETTERS_H

#include "corpus.h"

struct node {
	_Alignas(64) volatile uint64_t next;
	volatile uint64_t value, size;
	_Alignas(64) volatile uint64_t sum;
};

#define SET_FIELD(p, field, v) ((p)->field = (v))
#define SET_TWO(p, v) \
	do { \
		(p)->value = (v); \
		(p)->sum = (v); \
	} while (0)

static inline void node_set_next(struct node *n, uint64_t next)
{
	n->next = next;
}

/* A setter that uses another one. */
static inline void node_link(struct node *n, uint64_t next)
{
	node_set_next(n, next);
}

static inline void node_fill(struct node *n, uint64_t v)
{
	n->value = v;

	n->size = sizeof v;
	n->sum = v;
}

/* Has one caller. */
static inline void node_set_sum(struct node *n, uint64_t sum)
{
	n->sum = sum;
}

/* Flushes what it stores, but for one store: its callers need not. */
static inline void node_change(struct node *n, uint64_t v)
{
	n->value = v;
	n->sum = v; /* BUG: missing-flush */
	flush_line((const void *)&n->value);
	fence();
}

#endif
