/* Symbolic expressions: bit-vectors of at most 64 bits, computed from the bytes of an input. For
 * example, after `n = buf[0] * 10 + buf[1]` on the input "12", n is
 *
 *	ADD 32 (MUL 32 (ZEXT 32 (INPUT 0)) (CONST 10)) (ZEXT 32 (INPUT 1))       value 540
 *
 * Each expression exists once: equal expressions have equal numbers. An operand has a smaller
 * number than the expression that uses it. The code is freestanding, because the tracer, a Valgrind
 * tool, uses it too.
 *
 * A `struct val` is a number together with its expression: id 0 is a plain constant; otherwise v is
 * the value that the expression has in the present run. Operations on constants add no
 * expression. */
#ifndef EXPLORE_EXPR_H
#define EXPLORE_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_op {
	EXPR_NONE,
	EXPR_CONST, /* k is the value */
	EXPR_INPUT, /* byte k of the input */
	EXPR_TABLE, /* entry a of table k; a has 8 bits */
	EXPR_NOT,
	EXPR_NEG,
	EXPR_CLZ, /* CLZ and CTZ: the width if a is 0 */
	EXPR_CTZ,
	EXPR_POPCNT,
	EXPR_ZEXT,
	EXPR_SEXT,
	EXPR_EXTRACT, /* bits of a from bit k on */
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL,
	EXPR_UMULH, /* the upper half of the product */
	EXPR_SMULH,
	EXPR_UDIV, /* division by 0 gives what SMT-LIB says */
	EXPR_SDIV,
	EXPR_UREM,
	EXPR_SREM,
	EXPR_AND,
	EXPR_OR,
	EXPR_XOR,
	EXPR_SHL, /* shifts by the width or more give 0, or copies of the sign */
	EXPR_LSHR,
	EXPR_ASHR,
	EXPR_EQ, /* EQ to SLE are 1 bit wide */
	EXPR_ULT,
	EXPR_ULE,
	EXPR_SLT,
	EXPR_SLE,
	EXPR_CONCAT, /* a above b */
	EXPR_ITE,    /* a (1 bit) ? b : c */
	EXPR_OPS
};

#define EXPR_TABLE_ENTRIES 256

struct expr {
	uint8_t op, width; /* enum expr_op; width in bits */
	uint32_t arg[3];   /* 0 if the operation has fewer */
	uint64_t k;
	uint64_t value; /* only in the tracer: the value in this run */
};

struct val {
	uint32_t id;
	uint64_t v;
};

struct expr_pool;

struct expr_memory {
	void *(*alloc)(size_t len_bytes); /* must not fail */
	void (*free)(void *p);
};

struct expr_pool *expr_pool_new(struct expr_memory memory);
void expr_pool_free(struct expr_pool *p);
uint32_t expr_count(const struct expr_pool *p); /* expressions are numbered from 1 to this */
const struct expr *expr_at(const struct expr_pool *p, uint32_t id);
unsigned expr_nargs(enum expr_op op);

/* ---- making them ---- */

static inline struct val val_const(uint64_t v)
{
	return (struct val){ 0, v };
}

/* Makes the expression of an input byte. For this function and the next ones: widths are in bits,
 * and those of the operands. */
struct val expr_input(struct expr_pool *p, uint64_t index, uint8_t value);
/* Makes an operation with one operand: NOT to POPCNT of enum expr_op. */
struct val expr_unary(struct expr_pool *p, enum expr_op op, unsigned width, struct val a);
/* Makes an operation with two operands: ADD to SLE of enum expr_op. */
struct val expr_binary(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
		       struct val b);
struct val expr_ite(struct expr_pool *p, unsigned width, struct val c, struct val a, struct val b);
struct val expr_extract(struct expr_pool *p, unsigned width, struct val a, unsigned low,
			unsigned n);
struct val expr_concat(struct expr_pool *p, unsigned high_width, struct val high,
		       unsigned low_width, struct val low);
/* Makes a value wider: `to` bits, by ZEXT or SEXT. */
struct val expr_extend(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
		       unsigned to);
struct val expr_lookup(struct expr_pool *p, uint32_t table, unsigned width, struct val index);
/* Adds a table of EXPR_TABLE_ENTRIES values (copied); equal tables get the same number. */
uint32_t expr_table_add(struct expr_pool *p, const uint64_t *entries);
const uint64_t *expr_table_at(const struct expr_pool *p, uint32_t table);

/* Adds an expression without simplifying it, as a file has it. 0 if its operands do not fit. */
uint32_t expr_raw(struct expr_pool *p, const struct expr *e);

/* ---- values ---- */

static inline uint64_t expr_mask(unsigned width)
{
	return width >= 64 ? ~0ULL : (1ULL << width) - 1;
}

/* Gives the value of e, given the values of its operands. Not for EXPR_INPUT. */
uint64_t expr_compute(const struct expr_pool *p, const struct expr *e, const uint64_t args[3]);

#endif
