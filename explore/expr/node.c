/* Adds single expressions to the pool: an operation with its value in this run, a byte of the
 * input, or an expression read from a file whose operands fit. simplify.c decides which are worth
 * adding. */
#include "explore/expr/expr_internal.h"

struct val expr_node(struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k,
		     const struct val *args, const unsigned *widths, unsigned nargs)
{
	struct expr e = { .op = (uint8_t)op, .width = (uint8_t)width, .k = k };
	uint64_t x[3] = { 0 };

	for (unsigned i = 0; i < nargs; i++) {
		x[i] = args[i].v;
		e.arg[i] = args[i].id;
		if (!args[i].id) {
			struct expr c = { .op = EXPR_CONST,
					  .width = (uint8_t)widths[i],
					  .k = args[i].v,
					  .value = args[i].v };

			e.arg[i] = expr_intern(p, &c);
		}
	}
	e.value = expr_operate(p, op, width, k, nargs > 0 ? widths[0] : 0,
			       nargs > 1 ? widths[1] : 0, x);
	return (struct val){ expr_intern(p, &e), e.value };
}

struct val expr_input(struct expr_pool *p, uint64_t index, uint8_t value)
{
	struct expr e = { .op = EXPR_INPUT, .width = 8, .k = index, .value = value };

	return (struct val){ expr_intern(p, &e), value };
}

static unsigned arg_width(const struct expr_pool *p, const struct expr *e, unsigned i)
{
	return expr_at(p, e->arg[i])->width;
}

/* Asks whether the operands have the widths that the operation needs. */
static bool fits(const struct expr_pool *p, const struct expr *e)
{
	unsigned a, b;

	if (e->op <= EXPR_NONE || e->op >= EXPR_OPS || e->width < 1 || e->width > 64)
		return false;
	for (unsigned i = 0; i < 3; i++)
		if (i < expr_nargs(e->op) ? e->arg[i] < 1 || e->arg[i] > p->n : e->arg[i] != 0)
			return false;
	a = expr_nargs(e->op) > 0 ? arg_width(p, e, 0) : 0;
	b = expr_nargs(e->op) > 1 ? arg_width(p, e, 1) : 0;
	switch ((enum expr_op)e->op) {
	case EXPR_NONE:
	case EXPR_OPS: return false;
	case EXPR_CONST: return (e->k & ~expr_mask(e->width)) == 0;
	case EXPR_INPUT: return e->width == 8;
	case EXPR_TABLE: return a == 8 && e->k < p->ntables;
	case EXPR_NOT:
	case EXPR_NEG:
	case EXPR_CLZ:
	case EXPR_CTZ:
	case EXPR_POPCNT: return a == e->width;
	case EXPR_ZEXT:
	case EXPR_SEXT: return a < e->width;
	case EXPR_EXTRACT: return e->k < 64 && e->k + e->width <= a;
	case EXPR_EQ:
	case EXPR_ULT:
	case EXPR_ULE:
	case EXPR_SLT:
	case EXPR_SLE: return e->width == 1 && a == b;
	case EXPR_CONCAT: return a + b == e->width;
	case EXPR_ITE: return a == 1 && b == e->width && arg_width(p, e, 2) == e->width;
	default: return a == b && a == e->width; /* arithmetic */
	}
}

uint32_t expr_raw(struct expr_pool *p, const struct expr *e)
{
	return fits(p, e) ? expr_intern(p, e) : 0;
}
