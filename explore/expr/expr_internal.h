/* What the files of the expressions share. */
#ifndef EXPLORE_EXPR_INSIDE_H
#define EXPLORE_EXPR_INSIDE_H

#include "explore/expr/expr.h"

#define CHUNK_BITS 14
#define CHUNKS 4096

struct expr_pool {
	struct expr_memory memory;
	struct expr *chunk[CHUNKS];
	uint32_t n;
	uint32_t *slots, nslots; /* hash table of numbers; a power of two */
	uint64_t **tables;
	uint32_t ntables, tables_room;
	unsigned depth; /* of operations that an extraction in hand went through */
};

/* An operation whose operands may be constants; numbers are made for those. */
struct val node_make(struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k, const struct val *args, const unsigned *widths,
		     unsigned nargs);
uint64_t compute(const struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k, unsigned wide, unsigned low, const uint64_t *x);

#endif
