/* Takes a sum apart into parts with factors, and chooses the value of each part, from the largest
 * factor down. The result is a guess that the solver checks. */
#include "explore/path/linear.h"

#include <stdlib.h>

#define PARTS_MAX 32
#define DEPTH_MAX 64

struct sum {
	const struct expr_pool *pool;
	linear_parts *parts;
	uint64_t constant, mask;
};

static bool part_add(struct sum *s, uint32_t id, uint64_t factor)
{
	for (size_t i = 0; i < s->parts->n; i++)
		if (s->parts->at[i].id == id) {
			s->parts->at[i].factor = (s->parts->at[i].factor + factor) & s->mask;
			return true;
		}
	if (s->parts->n == PARTS_MAX)
		return false;
	*vec_add(s->parts) = (struct linear_part){ .id = id, .factor = factor & s->mask };
	return true;
}

/* Takes factor * id apart into sums, products with constants, and the rest. All parts have the
 * width of the whole, so arithmetic is modulo that width. */
static bool take_apart(struct sum *s, uint32_t id, uint64_t factor, unsigned depth)
{
	const struct expr *e = expr_at(s->pool, id);
	const struct expr *b = e->arg[1] ? expr_at(s->pool, e->arg[1]) : NULL;

	if (depth == 0)
		return false;
	switch ((enum expr_op)e->op) {
	case EXPR_CONST: s->constant += factor * e->k; return true;
	case EXPR_ADD:
		return take_apart(s, e->arg[0], factor, depth - 1) &&
		       take_apart(s, e->arg[1], factor, depth - 1);
	case EXPR_SUB:
		return take_apart(s, e->arg[0], factor, depth - 1) &&
		       take_apart(s, e->arg[1], -factor, depth - 1);
	case EXPR_NEG: return take_apart(s, e->arg[0], -factor, depth - 1);
	case EXPR_MUL:
		if (b->op == EXPR_CONST)
			return take_apart(s, e->arg[0], factor * b->k, depth - 1);
		if (expr_at(s->pool, e->arg[0])->op == EXPR_CONST)
			return take_apart(s, e->arg[1], factor * expr_at(s->pool, e->arg[0])->k,
					  depth - 1);
		break;
	case EXPR_SHL:
		if (b->op == EXPR_CONST && b->k < e->width)
			return take_apart(s, e->arg[0], factor << b->k, depth - 1);
		break;
	default: break;
	}
	return part_add(s, id, factor);
}

static int factors_compare(const void *a, const void *b)
{
	const struct linear_part *x = a, *y = b;

	return x->factor != y->factor ? (x->factor > y->factor ? -1 : 1)
				      : (x->id > y->id) - (x->id < y->id);
}

/* Gives the smallest value that a part can have: '0' if the part is a character that is a digit
 * now, else 0. Sets *most to the largest value. */
static uint64_t part_least(const struct expr_pool *pool, uint32_t id, const uint8_t *input,
			   size_t len_bytes, uint64_t *most)
{
	const struct expr *e = expr_at(pool, id);

	*most = expr_mask(e->width);
	if (e->op == EXPR_ZEXT) {
		e = expr_at(pool, e->arg[0]);
		*most = expr_mask(e->width);
	}
	return e->op == EXPR_INPUT && e->k < len_bytes && input[e->k] >= '0' && input[e->k] <= '9'
		       ? '0'
		       : 0;
}

bool linear_solve(const struct expr_pool *pool, uint32_t sum, uint64_t value, const uint8_t *input,
		  size_t len_bytes, linear_parts *parts)
{
	struct sum s = { .pool = pool,
			 .parts = parts,
			 .mask = expr_mask(expr_at(pool, sum)->width) };
	uint64_t rest, most;

	parts->n = 0;
	if (!take_apart(&s, sum, 1, DEPTH_MAX) || parts->n < 2)
		return false;
	rest = value - s.constant;
	for (size_t i = 0; i < parts->n; i++) {
		struct linear_part *p = &parts->at[i];

		p->value = part_least(pool, p->id, input, len_bytes, &most);
		rest -= p->factor * p->value;
	}
	rest &= s.mask;
	qsort(parts->at, parts->n, sizeof parts->at[0], factors_compare);
	for (size_t i = 0; i < parts->n; i++) { /* as much of each as fits */
		struct linear_part *p = &parts->at[i];
		uint64_t n = p->factor ? rest / p->factor : 0;

		part_least(pool, p->id, input, len_bytes, &most);
		if (n > most - p->value)
			n = most - p->value;
		p->value += n;
		rest -= n * p->factor;
	}
	return rest == 0;
}
