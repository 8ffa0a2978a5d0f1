/* Finds the values that an expression can have, from the values of its operands. Gives up if there
 * are more than VALUES_MAX. */
#include "explore/path/values.h"
#include "util/order.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 24
#define BITS_MAX 8 /* an operand of up to so many bits may have any value */

static bool sort_values(values *v)
{
	size_t kept = 0;

	if (v->n)
		qsort(v->at, v->n, sizeof v->at[0], order_u64);
	for (size_t i = 0; i < v->n; i++)
		if (kept == 0 || v->at[i] != v->at[kept - 1])
			v->at[kept++] = v->at[i];
	v->n = kept;
	return kept <= VALUES_MAX;
}

static void all_values(unsigned width, values *v)
{
	v->n = 0;
	for (uint64_t i = 0; i <= expr_mask(width); i++)
		*vec_add(v) = i;
}

/* Gives the index of the only operand that is not constant; -1 if there are several. */
static int only_operand(const struct expr_pool *pool, const struct expr *e)
{
	int found = -1;

	for (unsigned i = 0; i < expr_nargs(e->op); i++) {
		if (expr_at(pool, e->arg[i])->op == EXPR_CONST)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static bool find_values(const struct expr_pool *pool, uint32_t id, values *v, unsigned depth);

static bool find_choice(const struct expr_pool *pool, const struct expr *e, values *v,
			unsigned depth)
{
	values other = { 0 };
	bool is_known = find_values(pool, e->arg[1], v, depth) &&
			find_values(pool, e->arg[2], &other, depth);

	for (size_t i = 0; is_known && i < other.n; i++)
		*vec_add(v) = other.at[i];
	vec_release(&other);
	return is_known && sort_values(v);
}

/* Finds the values of an operation from those of its only operand that is not constant: applies the
 * operation to each of them. */
static bool find_mapped(const struct expr_pool *pool, const struct expr *e, unsigned operand,
			values *v, unsigned depth)
{
	if (!find_values(pool, e->arg[operand], v, depth))
		return false;
	for (size_t i = 0; i < v->n; i++) {
		uint64_t args[3] = { 0 };

		for (unsigned a = 0; a < expr_nargs(e->op); a++)
			args[a] = a == operand ? v->at[i] : expr_at(pool, e->arg[a])->k;
		v->at[i] = expr_compute(pool, e, args);
	}
	return sort_values(v);
}

static bool find_values(const struct expr_pool *pool, uint32_t id, values *v, unsigned depth)
{
	const struct expr *e = expr_at(pool, id);
	int operand;

	v->n = 0;
	if (e->op == EXPR_CONST) {
		*vec_add(v) = e->k;
		return true;
	}
	if (e->op == EXPR_ITE && depth && find_choice(pool, e, v, depth - 1))
		return true;
	operand = depth && e->op != EXPR_INPUT && e->op != EXPR_ITE ? only_operand(pool, e) : -1;
	if (operand >= 0 && find_mapped(pool, e, (unsigned)operand, v, depth - 1))
		return true;
	if (e->width > BITS_MAX)
		return false;
	all_values(e->width, v);
	return true;
}

bool values_find(const struct expr_pool *pool, uint32_t id, values *v)
{
	return find_values(pool, id, v, DEPTH_MAX);
}
