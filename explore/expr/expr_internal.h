/* What the files of expr/ share. Each file uses only those before it: pool.c, compute.c, node.c,
 * simplify.c. */
#ifndef EXPLORE_EXPR_INTERNAL_H
#define EXPLORE_EXPR_INTERNAL_H

#include "explore/expr/expr.h"

#define CHUNK_BITS 14
#define CHUNKS 4096

struct expr_pool {
	struct expr_memory memory;
	struct expr *chunk[CHUNKS];
	uint32_t n;
	uint32_t *slots, nslots; /* hash table of expression numbers; a power of two */
	uint64_t **tables;
	uint32_t ntables, tables_room;
	unsigned depth; /* how deep the extraction in progress has gone into operations */
};

/* Gives the number of the expression, and adds it unless it exists. 0: the pool is full. */
uint32_t expr_intern(struct expr_pool *p, const struct expr *e);
/* Adds an operation and gives its value. Operands that are constants become expressions, too. */
struct val expr_node(struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k,
		     const struct val *args, const unsigned *widths, unsigned nargs);
/* Computes an operation on the numbers x. width: that of the result; wide: that of the first
 * operand; low: that of the second. */
uint64_t expr_operate(const struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k,
		      unsigned wide, unsigned low, const uint64_t *x);

#endif
