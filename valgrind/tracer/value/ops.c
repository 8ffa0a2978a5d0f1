/* Computes integer operations of VEX's IR as expressions; a table has one row for each operation.
 * vector.c handles operations that are not in this table. */
#include "valgrind/tracer/value/ops.h"

#include "valgrind/tracer/value/rows.h"
#include "valgrind/tracer/value/vector.h"
#include "valgrind/tracer/value/word_symbols.h"

enum form {
	FORM_NONE,
	FORM_BINARY,  /* operands and result have `bits` */
	FORM_SHIFT,   /* the second operand has 8 bits */
	FORM_COMPARE, /* the result has 1 bit */
	FORM_DIFFER,  /* not equal; the result has 1 bit */
	FORM_UNARY,
	FORM_EXTEND,  /* to `to` bits */
	FORM_LOW,     /* the lowest `to` bits */
	FORM_HIGH,    /* the highest `to` bits */
	FORM_JOIN,    /* two of `bits` */
	FORM_MULL,    /* the whole product; expr computes its upper half */
	FORM_NONZERO, /* 1 bit */
	FORM_SPREAD,  /* every bit of the result says whether the operand is not 0 */
	FORM_LEFT,    /* x | -x */
	FORM_MAX,
	/* `bits` by `to` bits: quotient in the lower `to` bits, remainder in the upper; expr is the
	 * division */
	FORM_DIVMOD,
	FORM_COPY,     /* the same bits as another type */
	FORM_WIDE_LOW, /* of 128 bits */
	FORM_WIDE_HIGH,
	FORM_WIDE_JOIN,
	FORM_WIDE_DIVMOD, /* 128 by 64 bits */
};

static const struct row {
	UShort op; /* minus Iop_INVALID */
	UChar form, expr, bits, to;
} rows[] = {
/* clang-format off */
#define ROW(o, f, e, b, t) { o - Iop_INVALID, f, e, b, t },
#define FOUR(o, f, e) \
	ROW(o##8, f, e, 8, 0) ROW(o##16, f, e, 16, 0) ROW(o##32, f, e, 32, 0) \
	ROW(o##64, f, e, 64, 0)
	FOUR(Iop_Add, FORM_BINARY, EXPR_ADD)
	FOUR(Iop_Sub, FORM_BINARY, EXPR_SUB)
	FOUR(Iop_Mul, FORM_BINARY, EXPR_MUL)
	FOUR(Iop_Or, FORM_BINARY, EXPR_OR)
	FOUR(Iop_And, FORM_BINARY, EXPR_AND)
	FOUR(Iop_Xor, FORM_BINARY, EXPR_XOR)
	FOUR(Iop_Shl, FORM_SHIFT, EXPR_SHL)
	FOUR(Iop_Shr, FORM_SHIFT, EXPR_LSHR)
	FOUR(Iop_Sar, FORM_SHIFT, EXPR_ASHR)
	FOUR(Iop_CmpEQ, FORM_COMPARE, EXPR_EQ)
	FOUR(Iop_CmpNE, FORM_DIFFER, EXPR_EQ)
	FOUR(Iop_CasCmpEQ, FORM_COMPARE, EXPR_EQ)
	FOUR(Iop_CasCmpNE, FORM_DIFFER, EXPR_EQ)
	FOUR(Iop_ExpCmpNE, FORM_DIFFER, EXPR_EQ)
	FOUR(Iop_Not, FORM_UNARY, EXPR_NOT)
	FOUR(Iop_MullS, FORM_MULL, EXPR_SMULH)
	FOUR(Iop_MullU, FORM_MULL, EXPR_UMULH)
	FOUR(Iop_CmpNEZ, FORM_NONZERO, 0)
	FOUR(Iop_Left, FORM_LEFT, 0)
	ROW(Iop_CmpwNEZ32, FORM_SPREAD, 0, 32, 0)
	ROW(Iop_CmpwNEZ64, FORM_SPREAD, 0, 64, 0)
#ifdef VEX_HAS_CLZ /* set in tracer.mk */
	ROW(Iop_Clz64, FORM_UNARY, EXPR_CLZ, 64, 0)
	ROW(Iop_Clz32, FORM_UNARY, EXPR_CLZ, 32, 0)
	ROW(Iop_Ctz64, FORM_UNARY, EXPR_CTZ, 64, 0)
	ROW(Iop_Ctz32, FORM_UNARY, EXPR_CTZ, 32, 0)
#endif
	ROW(Iop_ClzNat64, FORM_UNARY, EXPR_CLZ, 64, 0)
	ROW(Iop_ClzNat32, FORM_UNARY, EXPR_CLZ, 32, 0)
	ROW(Iop_CtzNat64, FORM_UNARY, EXPR_CTZ, 64, 0)
	ROW(Iop_CtzNat32, FORM_UNARY, EXPR_CTZ, 32, 0)
	ROW(Iop_PopCount64, FORM_UNARY, EXPR_POPCNT, 64, 0)
	ROW(Iop_PopCount32, FORM_UNARY, EXPR_POPCNT, 32, 0)
	ROW(Iop_CmpLT32S, FORM_COMPARE, EXPR_SLT, 32, 0)
	ROW(Iop_CmpLT64S, FORM_COMPARE, EXPR_SLT, 64, 0)
	ROW(Iop_CmpLE32S, FORM_COMPARE, EXPR_SLE, 32, 0)
	ROW(Iop_CmpLE64S, FORM_COMPARE, EXPR_SLE, 64, 0)
	ROW(Iop_CmpLT32U, FORM_COMPARE, EXPR_ULT, 32, 0)
	ROW(Iop_CmpLT64U, FORM_COMPARE, EXPR_ULT, 64, 0)
	ROW(Iop_CmpLE32U, FORM_COMPARE, EXPR_ULE, 32, 0)
	ROW(Iop_CmpLE64U, FORM_COMPARE, EXPR_ULE, 64, 0)
	ROW(Iop_Max32U, FORM_MAX, 0, 32, 0)
	ROW(Iop_DivU32, FORM_BINARY, EXPR_UDIV, 32, 0)
	ROW(Iop_DivS32, FORM_BINARY, EXPR_SDIV, 32, 0)
	ROW(Iop_DivU64, FORM_BINARY, EXPR_UDIV, 64, 0)
	ROW(Iop_DivS64, FORM_BINARY, EXPR_SDIV, 64, 0)
	ROW(Iop_DivModU64to32, FORM_DIVMOD, EXPR_UDIV, 64, 32)
	ROW(Iop_DivModS64to32, FORM_DIVMOD, EXPR_SDIV, 64, 32)
	ROW(Iop_DivModU32to32, FORM_DIVMOD, EXPR_UDIV, 32, 32)
	ROW(Iop_DivModS32to32, FORM_DIVMOD, EXPR_SDIV, 32, 32)
	ROW(Iop_DivModU128to64, FORM_WIDE_DIVMOD, EXPR_UDIV, 128, 64)
	ROW(Iop_DivModS128to64, FORM_WIDE_DIVMOD, EXPR_SDIV, 128, 64)
	ROW(Iop_DivModU64to64, FORM_WIDE_DIVMOD, EXPR_UDIV, 64, 64)
	ROW(Iop_DivModS64to64, FORM_WIDE_DIVMOD, EXPR_SDIV, 64, 64)
	ROW(Iop_8Uto16, FORM_EXTEND, EXPR_ZEXT, 8, 16)
	ROW(Iop_8Uto32, FORM_EXTEND, EXPR_ZEXT, 8, 32)
	ROW(Iop_8Uto64, FORM_EXTEND, EXPR_ZEXT, 8, 64)
	ROW(Iop_16Uto32, FORM_EXTEND, EXPR_ZEXT, 16, 32)
	ROW(Iop_16Uto64, FORM_EXTEND, EXPR_ZEXT, 16, 64)
	ROW(Iop_32Uto64, FORM_EXTEND, EXPR_ZEXT, 32, 64)
	ROW(Iop_8Sto16, FORM_EXTEND, EXPR_SEXT, 8, 16)
	ROW(Iop_8Sto32, FORM_EXTEND, EXPR_SEXT, 8, 32)
	ROW(Iop_8Sto64, FORM_EXTEND, EXPR_SEXT, 8, 64)
	ROW(Iop_16Sto32, FORM_EXTEND, EXPR_SEXT, 16, 32)
	ROW(Iop_16Sto64, FORM_EXTEND, EXPR_SEXT, 16, 64)
	ROW(Iop_32Sto64, FORM_EXTEND, EXPR_SEXT, 32, 64)
	ROW(Iop_1Uto8, FORM_EXTEND, EXPR_ZEXT, 1, 8)
	ROW(Iop_1Uto32, FORM_EXTEND, EXPR_ZEXT, 1, 32)
	ROW(Iop_1Uto64, FORM_EXTEND, EXPR_ZEXT, 1, 64)
	ROW(Iop_1Sto8, FORM_EXTEND, EXPR_SEXT, 1, 8)
	ROW(Iop_1Sto16, FORM_EXTEND, EXPR_SEXT, 1, 16)
	ROW(Iop_1Sto32, FORM_EXTEND, EXPR_SEXT, 1, 32)
	ROW(Iop_1Sto64, FORM_EXTEND, EXPR_SEXT, 1, 64)
	ROW(Iop_64to8, FORM_LOW, 0, 64, 8)
	ROW(Iop_32to8, FORM_LOW, 0, 32, 8)
	ROW(Iop_64to16, FORM_LOW, 0, 64, 16)
	ROW(Iop_16to8, FORM_LOW, 0, 16, 8)
	ROW(Iop_32to16, FORM_LOW, 0, 32, 16)
	ROW(Iop_64to32, FORM_LOW, 0, 64, 32)
	ROW(Iop_32to1, FORM_LOW, 0, 32, 1)
	ROW(Iop_64to1, FORM_LOW, 0, 64, 1)
	ROW(Iop_16HIto8, FORM_HIGH, 0, 16, 8)
	ROW(Iop_32HIto16, FORM_HIGH, 0, 32, 16)
	ROW(Iop_64HIto32, FORM_HIGH, 0, 64, 32)
	ROW(Iop_8HLto16, FORM_JOIN, 0, 8, 0)
	ROW(Iop_16HLto32, FORM_JOIN, 0, 16, 0)
	ROW(Iop_32HLto64, FORM_JOIN, 0, 32, 0)
	ROW(Iop_Not1, FORM_UNARY, EXPR_NOT, 1, 0)
	ROW(Iop_And1, FORM_BINARY, EXPR_AND, 1, 0)
	ROW(Iop_Or1, FORM_BINARY, EXPR_OR, 1, 0)
	ROW(Iop_ReinterpF64asI64, FORM_COPY, 0, 64, 0)
	ROW(Iop_ReinterpI64asF64, FORM_COPY, 0, 64, 0)
	ROW(Iop_ReinterpF32asI32, FORM_COPY, 0, 32, 0)
	ROW(Iop_ReinterpI32asF32, FORM_COPY, 0, 32, 0)
	ROW(Iop_ReinterpV128asI128, FORM_COPY, 0, 128, 0)
	ROW(Iop_ReinterpI128asV128, FORM_COPY, 0, 128, 0)
	ROW(Iop_128to64, FORM_WIDE_LOW, 0, 128, 64)
	ROW(Iop_128HIto64, FORM_WIDE_HIGH, 0, 128, 64)
	ROW(Iop_64HLto128, FORM_WIDE_JOIN, 0, 64, 0)
	ROW(Iop_V128to64, FORM_WIDE_LOW, 0, 128, 64)
	ROW(Iop_V128HIto64, FORM_WIDE_HIGH, 0, 128, 64)
	ROW(Iop_64HLtoV128, FORM_WIDE_JOIN, 0, 64, 0)
#undef FOUR
#undef ROW
	/* clang-format on */
};
_Static_assert(sizeof rows / sizeof *rows < 256, "a row's number is a byte");

static const struct row *row_find(IROp op)
{
	static UChar g_index[OPS_MAX];
	UInt n = row_number(op, g_index, rows, sizeof *rows, sizeof rows / sizeof *rows);

	return n ? &rows[n - 1] : NULL;
}

Bool op_is_known(IROp op)
{
	return row_find(op) != NULL || vector_is_known(op);
}

Bool op_is_partial(IROp op)
{
	const struct row *r = row_find(op);

	return r ? r->form == FORM_WIDE_DIVMOD : vector_is_partial(op);
}

static struct val binary(enum expr_op op, UInt bits, struct val a, struct val b)
{
	if (op == EXPR_ADD && bits == 64 && words_is_address(a, b))
		return val_const(a.v + b.v);
	return expr_binary(g_pool, op, bits, a, b);
}

static struct val extend(enum expr_op op, UInt from, struct val a, UInt to)
{
	return expr_extend(g_pool, op, from, a, to);
}

static struct val differ(UInt bits, struct val a, struct val b)
{
	return expr_unary(g_pool, EXPR_NOT, 1, binary(EXPR_EQ, bits, a, b));
}

static void mull(const struct row *r, struct val a, struct val b, struct wide *result)
{
	struct val high = binary(r->expr, r->bits, a, b), low = binary(EXPR_MUL, r->bits, a, b);

	if (r->bits == 64) {
		result->part[0] = low;
		result->part[1] = high;
	} else {
		result->part[0] = expr_concat(g_pool, r->bits, high, r->bits, low);
	}
}

/* Divides with remainder. The machine traps unless the quotient fits, so its lower half is the
 * whole quotient. */
static struct val divmod(const struct row *r, struct val a, struct val b)
{
	const enum expr_op rem = r->expr == EXPR_UDIV ? EXPR_UREM : EXPR_SREM,
			   ext = r->expr == EXPR_UDIV ? EXPR_ZEXT : EXPR_SEXT;
	struct val d = extend(ext, r->to, b, r->bits);
	struct val quotient = val_cut(binary(r->expr, r->bits, a, d), r->bits, 0, r->to);
	struct val remainder = val_cut(binary(rem, r->bits, a, d), r->bits, 0, r->to);

	return expr_concat(g_pool, r->to, remainder, r->to, quotient);
}

/* Divides a wide value with remainder. Works if the upper half of the dividend only extends the
 * lower one, as in compiled code. */
static Bool wide_divmod(const struct row *r, const struct wide *a, struct val b,
			struct wide *result)
{
	const enum expr_op rem = r->expr == EXPR_UDIV ? EXPR_UREM : EXPR_SREM;

	if (r->bits == 128) {
		struct val sign = r->expr == EXPR_UDIV
					  ? val_const(0)
					  : binary(EXPR_ASHR, 64, a->part[0], val_const(63));

		if (sign.id != a->part[1].id || (sign.id == 0 && sign.v != a->part[1].v))
			return False;
	}
	result->part[0] = binary(r->expr, 64, a->part[0], b);
	result->part[1] = binary(rem, 64, a->part[0], b);
	return True;
}

Bool op_apply(IROp op, const struct wide *args, struct wide *result)
{
	const struct row *r = row_find(op);
	struct val a = args[0].part[0], b = args[1].part[0], v = val_const(0);

	if (!r)
		return vector_apply(op, args, result);
	VG_(memset)(result, 0, sizeof *result);
	switch ((enum form)r->form) {
	case FORM_NONE: return False;
	case FORM_BINARY: v = binary(r->expr, r->bits, a, b); break;
	case FORM_SHIFT: v = binary(r->expr, r->bits, a, extend(EXPR_ZEXT, 8, b, r->bits)); break;
	case FORM_COMPARE: v = binary(r->expr, r->bits, a, b); break;
	case FORM_DIFFER: v = differ(r->bits, a, b); break;
	case FORM_UNARY: v = expr_unary(g_pool, r->expr, r->bits, a); break;
	case FORM_EXTEND: v = extend(r->expr, r->bits, a, r->to); break;
	case FORM_LOW: v = val_cut(a, r->bits, 0, r->to); break;
	case FORM_HIGH: v = val_cut(a, r->bits, r->bits - r->to, r->to); break;
	case FORM_JOIN: v = expr_concat(g_pool, r->bits, a, r->bits, b); break;
	case FORM_MULL: mull(r, a, b, result); return True;
	case FORM_NONZERO: v = differ(r->bits, a, val_const(0)); break;
	case FORM_SPREAD:
		v = extend(EXPR_SEXT, 1, differ(r->bits, a, val_const(0)), r->bits);
		break;
	case FORM_LEFT:
		v = binary(EXPR_OR, r->bits, a, expr_unary(g_pool, EXPR_NEG, r->bits, a));
		break;
	case FORM_MAX: v = expr_ite(g_pool, r->bits, binary(EXPR_ULT, r->bits, a, b), b, a); break;
	case FORM_DIVMOD: v = divmod(r, a, b); break;
	case FORM_COPY: *result = args[0]; return True;
	case FORM_WIDE_LOW: v = a; break;
	case FORM_WIDE_HIGH: v = args[0].part[1]; break;
	case FORM_WIDE_JOIN:
		result->part[1] = a;
		v = b;
		break;
	case FORM_WIDE_DIVMOD: return wide_divmod(r, &args[0], b, result);
	}
	result->part[0] = v;
	return True;
}
