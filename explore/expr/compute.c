/* Computes the operations of expressions on numbers. Operands must fit their width; results are cut
 * to theirs. */
#include "explore/expr/expr_internal.h"

static int64_t sign(uint64_t a, unsigned width)
{
	return (int64_t)(a << (64 - width)) >> (64 - width);
}

static uint64_t udiv(uint64_t a, uint64_t b)
{
	return b ? a / b : ~0ULL;
}

static uint64_t urem(uint64_t a, uint64_t b)
{
	return b ? a % b : a;
}

/* Divides signed numbers. Divides their magnitudes, because the smallest number divided by -1 would
 * overflow. */
static uint64_t sdiv(uint64_t a, uint64_t b, unsigned width)
{
	bool na = sign(a, width) < 0, nb = sign(b, width) < 0;
	uint64_t q = udiv((na ? -a : a) & expr_mask(width), (nb ? -b : b) & expr_mask(width));

	return na != nb ? -q : q;
}

static uint64_t srem(uint64_t a, uint64_t b, unsigned width)
{
	bool na = sign(a, width) < 0, nb = sign(b, width) < 0;
	uint64_t r = urem((na ? -a : a) & expr_mask(width), (nb ? -b : b) & expr_mask(width));

	return na ? -r : r;
}

static uint64_t umulh(uint64_t a, uint64_t b, unsigned width)
{
	return (uint64_t)((unsigned __int128)a * b >> width);
}

static uint64_t smulh(uint64_t a, uint64_t b, unsigned width)
{
	return (uint64_t)((__int128)sign(a, width) * sign(b, width) >> width);
}

static uint64_t clz(uint64_t a, unsigned width)
{
	return a ? (uint64_t)__builtin_clzll(a) - (64 - width) : width;
}

static uint64_t ashr(uint64_t a, uint64_t n, unsigned width)
{
	return (uint64_t)(sign(a, width) >> (n < width ? n : width - 1));
}

static uint64_t popcnt(uint64_t a)
{
	uint64_t n = 0;

	for (; a; a &= a - 1)
		n++;
	return n;
}

uint64_t expr_operate(const struct expr_pool *p, enum expr_op op, unsigned width, uint64_t k,
		      unsigned wide, unsigned low, const uint64_t *x)
{
	const uint64_t a = x[0], b = x[1];
	uint64_t r = 0;

	switch (op) {
	case EXPR_NONE:
	case EXPR_OPS:
	case EXPR_INPUT: break;
	case EXPR_CONST: r = k; break;
	case EXPR_TABLE: r = expr_table_at(p, (uint32_t)k)[a & 0xff]; break;
	case EXPR_NOT: r = ~a; break;
	case EXPR_NEG: r = -a; break;
	case EXPR_CLZ: r = clz(a, wide); break;
	case EXPR_CTZ: r = a ? (uint64_t)__builtin_ctzll(a) : wide; break;
	case EXPR_POPCNT: r = popcnt(a); break;
	case EXPR_ZEXT: r = a; break;
	case EXPR_SEXT: r = (uint64_t)sign(a, wide); break;
	case EXPR_EXTRACT: r = a >> k; break;
	case EXPR_ADD: r = a + b; break;
	case EXPR_SUB: r = a - b; break;
	case EXPR_MUL: r = a * b; break;
	case EXPR_UMULH: r = umulh(a, b, wide); break;
	case EXPR_SMULH: r = smulh(a, b, wide); break;
	case EXPR_UDIV: r = udiv(a, b); break;
	case EXPR_SDIV: r = sdiv(a, b, wide); break;
	case EXPR_UREM: r = urem(a, b); break;
	case EXPR_SREM: r = srem(a, b, wide); break;
	case EXPR_AND: r = a & b; break;
	case EXPR_OR: r = a | b; break;
	case EXPR_XOR: r = a ^ b; break;
	case EXPR_SHL: r = b < wide ? a << b : 0; break;
	case EXPR_LSHR: r = b < wide ? a >> b : 0; break;
	case EXPR_ASHR: r = ashr(a, b, wide); break;
	case EXPR_EQ: r = a == b; break;
	case EXPR_ULT: r = a < b; break;
	case EXPR_ULE: r = a <= b; break;
	case EXPR_SLT: r = sign(a, wide) < sign(b, wide); break;
	case EXPR_SLE: r = sign(a, wide) <= sign(b, wide); break;
	case EXPR_CONCAT: r = (low < 64 ? a << low : 0) | b; break;
	case EXPR_ITE: r = a ? b : x[2]; break;
	}
	return r & expr_mask(width);
}

uint64_t expr_compute(const struct expr_pool *p, const struct expr *e, const uint64_t args[3])
{
	return expr_operate(p, e->op, e->width, e->k, e->arg[0] ? expr_at(p, e->arg[0])->width : 0,
			    e->arg[1] ? expr_at(p, e->arg[1])->width : 0, args);
}
