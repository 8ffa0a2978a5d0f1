/* Bit-vector expressions over the bytes of an input, at most 64 bits wide. Each is kept once: equal
 * expressions have equal numbers, and an expression's operands have smaller numbers than itself.
 * Freestanding: the tracer, a Valgrind tool, compiles this too.
 *
 * A `struct val` is a number together with what it stands for: id 0 means a plain constant, else v
 * is the value that the expression has on the input of the present run. Operations on constants
 * cost no node. */
#ifndef EXPLORE_EXPR_H
#define EXPLORE_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_op {
	EXPR_NONE,
	EXPR_CONST, /* k */
	EXPR_INPUT, /* byte k of the input */
	EXPR_TABLE, /* entry a of table k; a has 8 bits */
	EXPR_NOT,
	EXPR_NEG,
	EXPR_CLZ, /* the width, if a is 0; CTZ as well */
	EXPR_CTZ,
	EXPR_POPCNT,
	EXPR_ZEXT,
	EXPR_SEXT,
	EXPR_EXTRACT, /* from bit k of a */
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL,
	EXPR_UMULH, /* the upper half of the product */
	EXPR_SMULH,
	EXPR_UDIV, /* by 0: what SMT-LIB says */
	EXPR_SDIV,
	EXPR_UREM,
	EXPR_SREM,
	EXPR_AND,
	EXPR_OR,
	EXPR_XOR,
	EXPR_SHL, /* by the width or more: 0, or the sign */
	EXPR_LSHR,
	EXPR_ASHR,
	EXPR_EQ, /* these five are 1 bit wide */
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
	uint8_t op, width; /* enum expr_op; bits */
	uint32_t arg[3];   /* 0 beyond the operation's own */
	uint64_t k;
	uint64_t value; /* in the tracer: on the input of this run */
};

struct val {
	uint32_t id;
	uint64_t v;
};

struct expr_pool;

struct expr_memory {
	void *(*alloc)(size_t len_bytes); /* cannot fail */
	void (*free)(void *p);
};

struct expr_pool *expr_pool_new(struct expr_memory memory);
void expr_pool_free(struct expr_pool *p);
uint32_t expr_count(const struct expr_pool *p); /* numbers are 1 to this */
const struct expr *expr_at(const struct expr_pool *p, uint32_t id);
unsigned expr_nargs(enum expr_op op);

/* ---- making them ---- */

static inline struct val val_const(uint64_t v)
{
	return (struct val){ 0, v };
}

/* All widths are of the operands, in bits. */
struct val expr_input(struct expr_pool *p, uint64_t index, uint8_t value);
/* NOT to POPCNT */
struct val expr_unary(struct expr_pool *p, enum expr_op op, unsigned width, struct val a);
/* ADD to SLE */
struct val expr_binary(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
		       struct val b);
struct val expr_ite(struct expr_pool *p, unsigned width, struct val c, struct val a, struct val b);
struct val expr_extract(struct expr_pool *p, unsigned width, struct val a, unsigned low,
			unsigned n);
struct val expr_concat(struct expr_pool *p, unsigned high_width, struct val high,
		       unsigned low_width, struct val low);
/* ZEXT, SEXT */
struct val expr_extend(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
		       unsigned to);
struct val expr_lookup(struct expr_pool *p, uint32_t table, unsigned width, struct val index);
/* A table of EXPR_TABLE_ENTRIES values, copied; the same number for the same content. */
uint32_t expr_table_add(struct expr_pool *p, const uint64_t *entries);
const uint64_t *expr_table_at(const struct expr_pool *p, uint32_t table);

/* As it stands, without simplification; for reading a file. 0 if the operands do not fit the
 * operation. */
uint32_t expr_raw(struct expr_pool *p, const struct expr *e);

/* ---- what they mean ---- */

static inline uint64_t expr_mask(unsigned width)
{
	return width >= 64 ? ~0ULL : (1ULL << width) - 1;
}

/* The value of e, given those of its operands. Not for EXPR_INPUT. */
uint64_t expr_compute(const struct expr_pool *p, const struct expr *e, const uint64_t args[3]);

#endif
