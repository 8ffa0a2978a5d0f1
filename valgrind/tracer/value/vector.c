/* Computes integer operations on vectors, lane by lane: those of SSE2 and AVX2 that libraries use
 * on bytes, and their equivalents on arm64. */
#include "valgrind/tracer/value/vector.h"

#include "valgrind/tracer/value/rows.h"

enum form {
	LANES_BINARY,  /* expr on each pair of lanes */
	LANES_COMPARE, /* a lane becomes all ones if expr holds */
	LANES_GREATER, /* a > b: expr is the comparison with exchanged operands */
	LANES_MAX,     /* b if expr(a, b), else a */
	LANES_MIN,
	LANES_SHIFT, /* all lanes by one 8-bit number */
	LANES_NONZERO,
	LANES_NOT,
	LANES_SIGNS, /* collects the highest bit of each byte */
	LANES_LOW,   /* interleaves the lower halves; arg 0 gives the upper lane of each pair */
	LANES_HIGH,
	LANES_WHOLE_SHL, /* shifts the whole vector by a constant number of bits */
	LANES_WHOLE_SHR,
	LANES_WIDEN, /* from 32 or 64 bits, with zeros above */
	LANES_SET,   /* replaces the lowest lane */
	LANES_TAKE,  /* takes `lane` bits from bit `expr` * 32 on */
	LANES_JOIN,  /* joins two vectors of 128 bits */
	LANES_PICK,  /* arg 1, a constant, says which byte goes where */
};

static const struct row {
	UShort op;
	UChar form, expr, lane;
	UShort bits; /* of the vector */
} rows[] = {
/* clang-format off */
#define ROW(o, f, e, l, b) { o - Iop_INVALID, f, e, l, b },
#define ALL(name, f, e) \
	ROW(Iop_##name##8x16, f, e, 8, 128) ROW(Iop_##name##16x8, f, e, 16, 128) \
	ROW(Iop_##name##32x4, f, e, 32, 128) ROW(Iop_##name##64x2, f, e, 64, 128) \
	ROW(Iop_##name##8x32, f, e, 8, 256) ROW(Iop_##name##16x16, f, e, 16, 256) \
	ROW(Iop_##name##32x8, f, e, 32, 256) ROW(Iop_##name##64x4, f, e, 64, 256)
#define KINDS(name, s, f, e) \
	ROW(Iop_##name##8##s##x16, f, e, 8, 128) ROW(Iop_##name##16##s##x8, f, e, 16, 128) \
	ROW(Iop_##name##32##s##x4, f, e, 32, 128) ROW(Iop_##name##8##s##x32, f, e, 8, 256) \
	ROW(Iop_##name##16##s##x16, f, e, 16, 256) ROW(Iop_##name##32##s##x8, f, e, 32, 256)
	ALL(Add, LANES_BINARY, EXPR_ADD)
	ALL(Sub, LANES_BINARY, EXPR_SUB)
	ROW(Iop_Mul16x8, LANES_BINARY, EXPR_MUL, 16, 128)
	ROW(Iop_Mul32x4, LANES_BINARY, EXPR_MUL, 32, 128)
	ROW(Iop_Mul16x16, LANES_BINARY, EXPR_MUL, 16, 256)
	ROW(Iop_Mul32x8, LANES_BINARY, EXPR_MUL, 32, 256)
	ROW(Iop_MulHi16Ux8, LANES_BINARY, EXPR_UMULH, 16, 128)
	ROW(Iop_MulHi16Sx8, LANES_BINARY, EXPR_SMULH, 16, 128)
	ROW(Iop_AndV128, LANES_BINARY, EXPR_AND, 64, 128)
	ROW(Iop_OrV128, LANES_BINARY, EXPR_OR, 64, 128)
	ROW(Iop_XorV128, LANES_BINARY, EXPR_XOR, 64, 128)
	ROW(Iop_NotV128, LANES_NOT, 0, 64, 128)
	ROW(Iop_AndV256, LANES_BINARY, EXPR_AND, 64, 256)
	ROW(Iop_OrV256, LANES_BINARY, EXPR_OR, 64, 256)
	ROW(Iop_XorV256, LANES_BINARY, EXPR_XOR, 64, 256)
	ROW(Iop_NotV256, LANES_NOT, 0, 64, 256)
	ALL(CmpEQ, LANES_COMPARE, EXPR_EQ)
	KINDS(CmpGT, S, LANES_GREATER, EXPR_SLT)
	ROW(Iop_CmpGT64Sx2, LANES_GREATER, EXPR_SLT, 64, 128)
	ROW(Iop_CmpGT64Sx4, LANES_GREATER, EXPR_SLT, 64, 256)
	ROW(Iop_CmpGT8Ux16, LANES_GREATER, EXPR_ULT, 8, 128)
	ROW(Iop_CmpGT16Ux8, LANES_GREATER, EXPR_ULT, 16, 128)
	ROW(Iop_CmpGT32Ux4, LANES_GREATER, EXPR_ULT, 32, 128)
	ROW(Iop_CmpGT64Ux2, LANES_GREATER, EXPR_ULT, 64, 128)
	KINDS(Max, U, LANES_MAX, EXPR_ULT)
	KINDS(Max, S, LANES_MAX, EXPR_SLT)
	KINDS(Min, U, LANES_MIN, EXPR_ULT)
	KINDS(Min, S, LANES_MIN, EXPR_SLT)
	ROW(Iop_ShlN8x16, LANES_SHIFT, EXPR_SHL, 8, 128)
	ROW(Iop_ShlN16x8, LANES_SHIFT, EXPR_SHL, 16, 128)
	ROW(Iop_ShlN32x4, LANES_SHIFT, EXPR_SHL, 32, 128)
	ROW(Iop_ShlN64x2, LANES_SHIFT, EXPR_SHL, 64, 128)
	ROW(Iop_ShrN8x16, LANES_SHIFT, EXPR_LSHR, 8, 128)
	ROW(Iop_ShrN16x8, LANES_SHIFT, EXPR_LSHR, 16, 128)
	ROW(Iop_ShrN32x4, LANES_SHIFT, EXPR_LSHR, 32, 128)
	ROW(Iop_ShrN64x2, LANES_SHIFT, EXPR_LSHR, 64, 128)
	ROW(Iop_SarN8x16, LANES_SHIFT, EXPR_ASHR, 8, 128)
	ROW(Iop_SarN16x8, LANES_SHIFT, EXPR_ASHR, 16, 128)
	ROW(Iop_SarN32x4, LANES_SHIFT, EXPR_ASHR, 32, 128)
	ROW(Iop_SarN64x2, LANES_SHIFT, EXPR_ASHR, 64, 128)
	ROW(Iop_ShlN16x16, LANES_SHIFT, EXPR_SHL, 16, 256)
	ROW(Iop_ShlN32x8, LANES_SHIFT, EXPR_SHL, 32, 256)
	ROW(Iop_ShlN64x4, LANES_SHIFT, EXPR_SHL, 64, 256)
	ROW(Iop_ShrN16x16, LANES_SHIFT, EXPR_LSHR, 16, 256)
	ROW(Iop_ShrN32x8, LANES_SHIFT, EXPR_LSHR, 32, 256)
	ROW(Iop_ShrN64x4, LANES_SHIFT, EXPR_LSHR, 64, 256)
	ROW(Iop_SarN16x16, LANES_SHIFT, EXPR_ASHR, 16, 256)
	ROW(Iop_SarN32x8, LANES_SHIFT, EXPR_ASHR, 32, 256)
	ROW(Iop_CmpNEZ8x16, LANES_NONZERO, 0, 8, 128)
	ROW(Iop_CmpNEZ16x8, LANES_NONZERO, 0, 16, 128)
	ROW(Iop_CmpNEZ32x4, LANES_NONZERO, 0, 32, 128)
	ROW(Iop_CmpNEZ64x2, LANES_NONZERO, 0, 64, 128)
	ROW(Iop_GetMSBs8x16, LANES_SIGNS, 0, 8, 128)
	ROW(Iop_GetMSBs8x8, LANES_SIGNS, 0, 8, 64)
	ROW(Iop_InterleaveLO8x16, LANES_LOW, 0, 8, 128)
	ROW(Iop_InterleaveLO16x8, LANES_LOW, 0, 16, 128)
	ROW(Iop_InterleaveLO32x4, LANES_LOW, 0, 32, 128)
	ROW(Iop_InterleaveLO64x2, LANES_LOW, 0, 64, 128)
	ROW(Iop_InterleaveHI8x16, LANES_HIGH, 0, 8, 128)
	ROW(Iop_InterleaveHI16x8, LANES_HIGH, 0, 16, 128)
	ROW(Iop_InterleaveHI32x4, LANES_HIGH, 0, 32, 128)
	ROW(Iop_InterleaveHI64x2, LANES_HIGH, 0, 64, 128)
	ROW(Iop_ShlV128, LANES_WHOLE_SHL, 0, 64, 128)
	ROW(Iop_ShrV128, LANES_WHOLE_SHR, 0, 64, 128)
	ROW(Iop_32UtoV128, LANES_WIDEN, 0, 32, 128)
	ROW(Iop_64UtoV128, LANES_WIDEN, 0, 64, 128)
	ROW(Iop_V128to32, LANES_TAKE, 0, 32, 128)
	ROW(Iop_SetV128lo32, LANES_SET, 0, 32, 128)
	ROW(Iop_SetV128lo64, LANES_SET, 0, 64, 128)
	ROW(Iop_V256toV128_0, LANES_TAKE, 0, 128, 256)
	ROW(Iop_V256toV128_1, LANES_TAKE, 4, 128, 256)
	ROW(Iop_V256to64_0, LANES_TAKE, 0, 64, 256)
	ROW(Iop_V256to64_1, LANES_TAKE, 2, 64, 256)
	ROW(Iop_V256to64_2, LANES_TAKE, 4, 64, 256)
	ROW(Iop_V256to64_3, LANES_TAKE, 6, 64, 256)
	ROW(Iop_V128HLtoV256, LANES_JOIN, 0, 64, 256)
	ROW(Iop_Perm8x16, LANES_PICK, 0, 8, 128)
	ROW(Iop_Add8x8, LANES_BINARY, EXPR_ADD, 8, 64)
	ROW(Iop_Sub8x8, LANES_BINARY, EXPR_SUB, 8, 64)
	ROW(Iop_CmpEQ8x8, LANES_COMPARE, EXPR_EQ, 8, 64)
	ROW(Iop_CmpNEZ8x8, LANES_NONZERO, 0, 8, 64)
#undef ALL
#undef KINDS
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

Bool vector_is_known(IROp op)
{
	return row_find(op) != NULL;
}

Bool vector_is_partial(IROp op)
{
	const struct row *r = row_find(op);

	return r &&
	       (r->form == LANES_PICK || r->form == LANES_WHOLE_SHL || r->form == LANES_WHOLE_SHR);
}

static struct val lane_get(const struct wide *w, UInt lane, UInt i)
{
	return val_cut(w->part[i * lane / 64], 64, i * lane % 64, lane);
}

/* Sets a lane of w. Call it for the lowest lane first, then for the others in order. */
static void lane_add(struct wide *w, UInt lane, UInt i, struct val v)
{
	struct val *p = &w->part[i * lane / 64];
	UInt at = i * lane % 64, rest = 64 - at - lane;
	struct val joined = at == 0 ? v : expr_concat(g_pool, lane, v, at, val_cut(*p, 64, 0, at));

	*p = rest == 0 ? joined : expr_extend(g_pool, EXPR_ZEXT, at + lane, joined, 64);
}

static struct val all_or_none(UInt lane, struct val bit)
{
	return expr_extend(g_pool, EXPR_SEXT, 1, bit, lane);
}

static struct val lane_apply(const struct row *r, struct val a, struct val b)
{
	struct expr_pool *p = g_pool;

	switch ((enum form)r->form) {
	case LANES_BINARY: return expr_binary(p, r->expr, r->lane, a, b);
	case LANES_COMPARE: return all_or_none(r->lane, expr_binary(p, r->expr, r->lane, a, b));
	case LANES_GREATER: return all_or_none(r->lane, expr_binary(p, r->expr, r->lane, b, a));
	case LANES_MAX: return expr_ite(p, r->lane, expr_binary(p, r->expr, r->lane, a, b), b, a);
	case LANES_MIN: return expr_ite(p, r->lane, expr_binary(p, r->expr, r->lane, a, b), a, b);
	case LANES_NONZERO:
		return all_or_none(r->lane,
				   expr_unary(p, EXPR_NOT, 1,
					      expr_binary(p, EXPR_EQ, r->lane, a, val_const(0))));
	case LANES_NOT: return expr_unary(p, EXPR_NOT, r->lane, a);
	default: return val_const(0); /* not computed lane by lane */
	}
}

static struct val signs(const struct wide *a, UInt bits)
{
	struct val v = val_const(0);

	for (UInt i = 0; i < bits / 8; i++) {
		struct val s = val_cut(lane_get(a, 8, i), 8, 7, 1);

		v = i == 0 ? s : expr_concat(g_pool, 1, s, i, v);
	}
	return v;
}

static Bool whole_shift(const struct row *r, const struct wide *a, struct val by,
			struct wide *result)
{
	UInt n = by.v / 8;

	if (by.id || by.v % 8)
		return False;
	for (UInt i = 0; i < 16; i++) {
		UInt from = r->form == LANES_WHOLE_SHL ? i - n : i + n;

		lane_add(result, 8, i, from < 16 ? lane_get(a, 8, from) : val_const(0));
	}
	return True;
}

static Bool pick(const struct wide *a, const struct wide *which, struct wide *result)
{
	if (wide_is_symbolic(which))
		return False;
	for (UInt i = 0; i < 16; i++)
		lane_add(result, 8, i, lane_get(a, 8, lane_get(which, 8, i).v & 15));
	return True;
}

static void take(const struct row *r, const struct wide *a, struct wide *result)
{
	if (r->lane == 32) {
		result->part[0] = val_cut(a->part[0], 64, 0, 32);
		return;
	}
	for (UInt i = 0; i < r->lane / 64u; i++)
		result->part[i] = a->part[r->expr / 2 + i];
}

static void set_lowest(const struct row *r, const struct wide *args, struct wide *result)
{
	*result = args[0];
	result->part[0] = r->lane == 64
				  ? args[1].part[0]
				  : expr_concat(g_pool, 32, val_cut(args[0].part[0], 64, 32, 32),
						32, args[1].part[0]);
}

Bool vector_apply(IROp op, const struct wide *args, struct wide *result)
{
	const struct row *r = row_find(op);
	UInt n, half;

	if (!r)
		return False;
	VG_(memset)(result, 0, sizeof *result);
	n = r->bits / r->lane;
	half = n / 2;
	switch ((enum form)r->form) {
	case LANES_SIGNS: result->part[0] = signs(&args[0], r->bits); return True;
	case LANES_LOW:
	case LANES_HIGH:
		for (UInt i = 0; i < n; i++)
			lane_add(result, r->lane, i,
				 lane_get(&args[i % 2 == 0], r->lane,
					  i / 2 + (r->form == LANES_HIGH ? half : 0)));
		return True;
	case LANES_WHOLE_SHL:
	case LANES_WHOLE_SHR: return whole_shift(r, &args[0], args[1].part[0], result);
	case LANES_WIDEN:
		result->part[0] = expr_extend(g_pool, EXPR_ZEXT, r->lane, args[0].part[0], 64);
		return True;
	case LANES_SET: set_lowest(r, args, result); return True;
	case LANES_TAKE: take(r, &args[0], result); return True;
	case LANES_JOIN:
		for (UInt i = 0; i < 2; i++) {
			result->part[i] = args[1].part[i];
			result->part[2 + i] = args[0].part[i];
		}
		return True;
	case LANES_PICK: return pick(&args[0], &args[1], result);
	case LANES_SHIFT:
		for (UInt i = 0; i < n; i++)
			lane_add(result, r->lane, i,
				 expr_binary(g_pool, r->expr, r->lane,
					     lane_get(&args[0], r->lane, i),
					     expr_extend(g_pool, EXPR_ZEXT, 8, args[1].part[0],
							 r->lane)));
		return True;
	default: break;
	}
	for (UInt i = 0; i < n; i++)
		lane_add(result, r->lane, i,
			 lane_apply(r, lane_get(&args[0], r->lane, i),
				    lane_get(&args[1], r->lane, i)));
	return True;
}
