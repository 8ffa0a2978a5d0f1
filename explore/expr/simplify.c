/* Constructs expressions, in a simpler form where that is cheap. Three cases matter most: a value
 * that was cut into bytes, stored, loaded and joined again becomes the value itself; a shift or
 * mask by a constant becomes an extraction, which other rules understand; a comparison of a
 * comparison becomes one. */
#include "explore/expr/expr_internal.h"

static const struct expr *node(const struct expr_pool *p, struct val a, enum expr_op op)
{
	const struct expr *e = a.id ? expr_at(p, a.id) : NULL;

	return e && e->op == op ? e : NULL;
}

static struct val val_of(const struct expr_pool *p, uint32_t id)
{
	const struct expr *e = expr_at(p, id);

	return (struct val){ e->op == EXPR_CONST ? 0 : id, e->value };
}

static unsigned width_of(const struct expr_pool *p, uint32_t id)
{
	return expr_at(p, id)->width;
}

static struct val fold(const struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k,
		       unsigned wide, unsigned low, uint64_t a, uint64_t b)
{
	const uint64_t x[3] = { a, b, 0 };

	return val_const(expr_operate(p, op, width, k, wide, low, x));
}

struct val expr_unary(struct expr_pool *p, enum expr_op op, unsigned width, struct val a)
{
	const struct expr *e;

	if (!a.id)
		return fold(p, op, width, 0, width, 0, a.v, 0);
	e = node(p, a, op);
	if (e && (op == EXPR_NOT || op == EXPR_NEG))
		return val_of(p, e->arg[0]);
	return expr_node(p, op, width, 0, &a, &width, 1);
}

struct val expr_extend(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
		       unsigned to)
{
	const struct expr *e;

	if (to == width)
		return a;
	if (!a.id)
		return fold(p, op, to, 0, width, 0, a.v, 0);
	e = node(p, a, EXPR_ZEXT);
	if (e)
		return expr_extend(p, EXPR_ZEXT, width_of(p, e->arg[0]), val_of(p, e->arg[0]), to);
	e = op == EXPR_SEXT ? node(p, a, EXPR_SEXT) : NULL;
	if (e)
		return expr_extend(p, EXPR_SEXT, width_of(p, e->arg[0]), val_of(p, e->arg[0]), to);
	return expr_node(p, op, to, 0, &a, &width, 1);
}

/* ---- extracting and joining bits ---- */

/* both operands may contain the same expressions, so the work would double at each level */
#define DEPTH_MAX 6

/* Extracts bits from an operation by extracting from its operands first, and then applying the
 * operation. */
static struct val extract_operands(struct expr_pool *p, const struct expr *e, unsigned low,
				   unsigned n)
{
	struct val a, b;

	p->depth++;
	a = expr_extract(p, e->width, val_of(p, e->arg[0]), low, n);
	b = e->op == EXPR_NOT ? val_const(0)
			      : expr_extract(p, e->width, val_of(p, e->arg[1]), low, n);
	p->depth--;
	return e->op == EXPR_NOT ? expr_unary(p, EXPR_NOT, n, a) : expr_binary(p, e->op, n, a, b);
}

/* Extracts bits of a from the expressions of which a consists. False if that is not simpler. */
static bool extract_through(struct expr_pool *p, struct val a, unsigned low, unsigned n,
			    struct val *r)
{
	const struct expr e = *expr_at(p, a.id);
	unsigned inner;

	switch ((enum expr_op)e.op) {
	case EXPR_EXTRACT:
		*r = expr_extract(p, width_of(p, e.arg[0]), val_of(p, e.arg[0]),
				  low + (unsigned)e.k, n);
		return true;
	case EXPR_CONCAT:
		inner = width_of(p, e.arg[1]);
		if (low + n <= inner)
			*r = expr_extract(p, inner, val_of(p, e.arg[1]), low, n);
		else if (low >= inner)
			*r = expr_extract(p, e.width - inner, val_of(p, e.arg[0]), low - inner, n);
		else
			*r = expr_concat(
				p, low + n - inner,
				expr_extract(p, e.width - inner, val_of(p, e.arg[0]), 0,
					     low + n - inner),
				inner - low,
				expr_extract(p, inner, val_of(p, e.arg[1]), low, inner - low));
		return true;
	case EXPR_ZEXT:
	case EXPR_SEXT:
		inner = width_of(p, e.arg[0]);
		if (low + n <= inner)
			*r = expr_extract(p, inner, val_of(p, e.arg[0]), low, n);
		else if (low >= inner && e.op == EXPR_ZEXT)
			*r = val_const(0);
		else if (low < inner)
			*r = expr_extend(
				p, e.op, inner - low,
				expr_extract(p, inner, val_of(p, e.arg[0]), low, inner - low), n);
		else
			return false;
		return true;
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_XOR:
	case EXPR_NOT: /* cheap on fewer bits */
		if (p->depth >= DEPTH_MAX)
			return false;
		*r = extract_operands(p, &e, low, n);
		return true;
	case EXPR_ITE:
		if (expr_at(p, e.arg[1])->op != EXPR_CONST ||
		    expr_at(p, e.arg[2])->op != EXPR_CONST)
			return false;
		*r = expr_ite(p, n, val_of(p, e.arg[0]),
			      expr_extract(p, e.width, val_of(p, e.arg[1]), low, n),
			      expr_extract(p, e.width, val_of(p, e.arg[2]), low, n));
		return true;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL: /* the lower bits depend only on lower bits */
		if (low != 0 || p->depth >= DEPTH_MAX)
			return false;
		*r = extract_operands(p, &e, low, n);
		return true;
	default: return false;
	}
}

struct val expr_extract(struct expr_pool *p, unsigned width, struct val a, unsigned low, unsigned n)
{
	struct val r;

	if (low == 0 && n == width)
		return a;
	if (!a.id)
		return val_const(a.v >> low & expr_mask(n));
	if (extract_through(p, a, low, n, &r))
		return r;
	return expr_node(p, EXPR_EXTRACT, n, low, &a, &width, 1);
}

/* Joins two parts that are neighbours in one value. False if they are not. */
static bool parts_join(struct expr_pool *p, unsigned high_width, struct val high,
		       unsigned low_width, struct val low, struct val *r)
{
	const struct expr *h = node(p, high, EXPR_EXTRACT), *l = node(p, low, EXPR_EXTRACT);
	uint32_t whole;
	unsigned at;

	if (h && l && h->arg[0] == l->arg[0] && h->k == l->k + low_width) {
		whole = l->arg[0];
		at = (unsigned)l->k;
	} else if (h && h->arg[0] == low.id && h->k == low_width) {
		/* low is an extraction from bit 0 that was simplified to a narrower value */
		whole = low.id;
		at = 0;
	} else {
		return false;
	}
	*r = expr_extract(p, width_of(p, whole), val_of(p, whole), at, high_width + low_width);
	return true;
}

struct val expr_concat(struct expr_pool *p, unsigned high_width, struct val high,
		       unsigned low_width, struct val low)
{
	const struct val args[2] = { high, low };
	const unsigned widths[2] = { high_width, low_width };
	const struct expr *e;
	struct val r;

	if (!high.id && !low.id)
		return val_const(high.v << low_width | low.v);
	if (!high.id && high.v == 0)
		return expr_extend(p, EXPR_ZEXT, low_width, low, high_width + low_width);
	if (parts_join(p, high_width, high, low_width, low, &r))
		return r;
	/* (h, (m, l)) becomes ((h, m), l), so that neighbouring parts meet */
	e = node(p, low, EXPR_CONCAT);
	if (e) {
		unsigned inner = width_of(p, e->arg[1]);
		struct val rest = val_of(p, e->arg[1]);

		return expr_concat(
			p, high_width + low_width - inner,
			expr_concat(p, high_width, high, low_width - inner, val_of(p, e->arg[0])),
			inner, rest);
	}
	return expr_node(p, EXPR_CONCAT, high_width + low_width, 0, args, widths, 2);
}

/* ---- arithmetic ---- */

static bool is_commutative(enum expr_op op)
{
	switch (op) {
	case EXPR_ADD:
	case EXPR_MUL:
	case EXPR_UMULH:
	case EXPR_SMULH:
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_XOR:
	case EXPR_EQ: return true;
	default: return false;
	}
}

/* Simplifies an operation whose two operands are the same a, such as a ^ a. */
static bool with_itself(enum expr_op op, struct val a, struct val *r)
{
	switch (op) {
	case EXPR_SUB:
	case EXPR_XOR:
	case EXPR_ULT:
	case EXPR_SLT: *r = val_const(0); return true;
	case EXPR_EQ:
	case EXPR_ULE:
	case EXPR_SLE: *r = val_const(1); return true;
	case EXPR_AND:
	case EXPR_OR: *r = a; return true;
	default: return false;
	}
}

/* Gives the number of ones if k is a mask of ones from bit 0 on; else 0. */
static unsigned low_ones(uint64_t k)
{
	return !k || (k & (k + 1)) ? 0 : ~k ? (unsigned)__builtin_ctzll(~k) : 64;
}

static bool and_constant(struct expr_pool *p, unsigned width, struct val a, uint64_t k,
			 struct val *r)
{
	unsigned ones = low_ones(k), zeros;

	if (k == 0) {
		*r = val_const(0);
	} else if (k == expr_mask(width)) {
		*r = a;
	} else if (ones) {
		*r = expr_extend(p, EXPR_ZEXT, ones, expr_extract(p, width, a, 0, ones), width);
	} else {
		zeros = (unsigned)__builtin_ctzll(k);
		ones = low_ones(k >> zeros);
		if (!ones)
			return false;
		*r = expr_concat(p, width - zeros,
				 expr_extend(p, EXPR_ZEXT, ones,
					     expr_extract(p, width, a, zeros, ones), width - zeros),
				 zeros, val_const(0));
	}
	return true;
}

static bool shift_constant(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
			   uint64_t k, struct val *r)
{
	unsigned n = (unsigned)k;

	if (k == 0)
		*r = a;
	else if (k >= width && op != EXPR_ASHR)
		*r = val_const(0);
	else if (op == EXPR_SHL)
		*r = expr_concat(p, width - n, expr_extract(p, width, a, 0, width - n), n,
				 val_const(0));
	else if (op == EXPR_LSHR)
		*r = expr_extend(p, EXPR_ZEXT, width - n, expr_extract(p, width, a, n, width - n),
				 width);
	else if (k < width)
		*r = expr_extend(p, EXPR_SEXT, width - n, expr_extract(p, width, a, n, width - n),
				 width);
	else
		return false;
	return true;
}

/* Simplifies an operation of a and the constant k. */
static bool with_constant(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
			  uint64_t k, struct val *r)
{
	const struct expr *e;

	switch (op) {
	case EXPR_ADD:
		e = node(p, a, EXPR_ADD);
		if (k && e && expr_at(p, e->arg[1])->op == EXPR_CONST) {
			*r = expr_binary(
				p, EXPR_ADD, width, val_of(p, e->arg[0]),
				val_const((expr_at(p, e->arg[1])->k + k) & expr_mask(width)));
			return true;
		}
		*r = a;
		return k == 0;
	case EXPR_SUB:
		*r = expr_binary(p, EXPR_ADD, width, a, val_const(-k & expr_mask(width)));
		return true;
	case EXPR_OR:
	case EXPR_XOR:
		*r = a;
		if (op == EXPR_XOR && k == expr_mask(width)) {
			*r = expr_unary(p, EXPR_NOT, width, a);
			return true;
		}
		return k == 0;
	case EXPR_MUL:
		*r = k ? a : val_const(0);
		if (k > 1 && !(k & (k - 1)))
			return shift_constant(p, EXPR_SHL, width, a, (uint64_t)__builtin_ctzll(k),
					      r);
		return k <= 1;
	case EXPR_AND: return and_constant(p, width, a, k, r);
	case EXPR_SHL:
	case EXPR_LSHR:
	case EXPR_ASHR: return shift_constant(p, op, width, a, k, r);
	default: return false;
	}
}

static struct val negated(struct expr_pool *p, struct val bit)
{
	return expr_unary(p, EXPR_NOT, 1, bit);
}

/* Simplifies a == k where a is a simpler expression in disguise. */
static bool equal_constant(struct expr_pool *p, struct val a, uint64_t k, struct val *r)
{
	const struct expr e = *expr_at(p, a.id);
	unsigned inner = e.arg[0] ? width_of(p, e.arg[0]) : 0;
	const struct expr *b = e.arg[1] ? expr_at(p, e.arg[1]) : NULL,
			  *c = e.arg[2] ? expr_at(p, e.arg[2]) : NULL;

	if (e.width == 1) {
		*r = k ? a : negated(p, a);
		return true;
	}
	switch ((enum expr_op)e.op) {
	case EXPR_ZEXT:
		*r = k & ~expr_mask(inner)
			     ? val_const(0)
			     : expr_binary(p, EXPR_EQ, inner, val_of(p, e.arg[0]), val_const(k));
		return true;
	case EXPR_SUB:
	case EXPR_XOR:
		if (k)
			return false;
		*r = expr_binary(p, EXPR_EQ, inner, val_of(p, e.arg[0]), val_of(p, e.arg[1]));
		return true;
	case EXPR_ADD:
		if (b->op != EXPR_CONST)
			return false;
		*r = expr_binary(p, EXPR_EQ, inner, val_of(p, e.arg[0]),
				 val_const((k - b->k) & expr_mask(inner)));
		return true;
	case EXPR_ITE:
		if (b->op != EXPR_CONST || c->op != EXPR_CONST || b->k == c->k)
			return false;
		*r = b->k == k   ? val_of(p, e.arg[0])
		     : c->k == k ? negated(p, val_of(p, e.arg[0]))
				 : val_const(0);
		return true;
	default: return false;
	}
}

/* Compares two values that were widened from the same width: compares them before the widening.
 * False if they are not such values. */
static bool compare_narrow(struct expr_pool *p, enum expr_op op, struct val a, struct val b,
			   struct val *r)
{
	const struct expr *x = node(p, a, EXPR_ZEXT), *y = node(p, b, EXPR_ZEXT);
	unsigned inner;

	if (!x || (op != EXPR_EQ && op != EXPR_ULT && op != EXPR_ULE))
		return false;
	inner = width_of(p, x->arg[0]);
	if (y && width_of(p, y->arg[0]) == inner)
		b = val_of(p, y->arg[0]);
	else if (b.id || (b.v & ~expr_mask(inner)))
		return false;
	*r = expr_binary(p, op, inner, val_of(p, x->arg[0]), b);
	return true;
}

struct val expr_binary(struct expr_pool *p, enum expr_op op, unsigned width, struct val a,
		       struct val b)
{
	const unsigned widths[2] = { width, width },
		       result = op >= EXPR_EQ && op <= EXPR_SLE ? 1 : width;
	struct val args[2], r;

	if (!a.id && !b.id)
		return fold(p, op, result, 0, width, width, a.v, b.v);
	if (is_commutative(op) && (!a.id || (b.id && a.id > b.id))) {
		struct val t = a;

		a = b;
		b = t;
	}
	if (a.id == b.id && with_itself(op, a, &r))
		return r;
	if (!b.id && with_constant(p, op, width, a, b.v, &r))
		return r;
	if (op == EXPR_EQ && !b.id && equal_constant(p, a, b.v, &r))
		return r;
	if (compare_narrow(p, op, a, b, &r))
		return r;
	args[0] = a;
	args[1] = b;
	return expr_node(p, op, result, 0, args, widths, 2);
}

struct val expr_ite(struct expr_pool *p, unsigned width, struct val c, struct val a, struct val b)
{
	const struct val args[3] = { c, a, b };
	const unsigned widths[3] = { 1, width, width };

	if (!c.id)
		return c.v ? a : b;
	if (a.id == b.id && (a.id || a.v == b.v))
		return a;
	if (width == 1 && !a.id && !b.id)
		return a.v ? c : negated(p, c);
	return expr_node(p, EXPR_ITE, width, 0, args, widths, 3);
}

struct val expr_lookup(struct expr_pool *p, uint32_t table, unsigned width, struct val index)
{
	const unsigned eight = 8;

	if (!index.id)
		return val_const(expr_table_at(p, table)[index.v & 0xff] & expr_mask(width));
	return expr_node(p, EXPR_TABLE, width, table, &index, &eight, 1);
}
