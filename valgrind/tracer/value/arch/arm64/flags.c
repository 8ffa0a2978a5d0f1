/* Computes condition codes of arm64 as expressions. VEX keeps the last operation that set them and
 * its operands, and calls a helper when it needs a flag; this file computes the helper's result.
 * Numbers of operations and conditions are from VEX's priv/guest_arm64_defs.h. */
#include "valgrind/tracer/value/flags.h"

enum cc_op {
	CC_COPY,
	CC_ADD32,
	CC_ADD64,
	CC_SUB32,
	CC_SUB64,
	CC_ADC32,
	CC_ADC64,
	CC_SBC32,
	CC_SBC64,
	CC_LOGIC32,
	CC_LOGIC64
};

struct flags {
	struct val n, z, c, v; /* 1 bit each */
};

static struct val bin(enum expr_op op, UInt bits, struct val a, struct val b)
{
	return expr_binary(g_pool, op, bits, a, b);
}

static struct val not1(struct val a)
{
	return expr_unary(g_pool, EXPR_NOT, 1, a);
}

static struct val top(struct val v, UInt bits)
{
	return val_cut(v, bits, bits - 1, 1);
}

static Bool flags_make(struct val cc_op, struct val dep1, struct val dep2, struct val dep3,
		       struct flags *f)
{
	UInt bits = cc_op.v % 2 ? 32 : 64;
	struct val l = val_cut(dep1, 64, 0, bits), r = val_cut(dep2, 64, 0, bits),
		   old = val_cut(dep3, 64, 0, 1), result = l, same, wide;

	VG_(memset)(f, 0, sizeof *f);
	if (cc_op.id || cc_op.v > CC_LOGIC64)
		return False;
	if (cc_op.v == CC_COPY) {
		*f = (struct flags){ val_cut(dep1, 64, 31, 1), val_cut(dep1, 64, 30, 1),
				     val_cut(dep1, 64, 29, 1), val_cut(dep1, 64, 28, 1) };
		return True;
	}
	wide = expr_extend(g_pool, EXPR_ZEXT, 1, old, bits);
	same = not1(bin(EXPR_XOR, 1, top(l, bits), top(r, bits)));
	switch (cc_op.v) {
	case CC_ADD32:
	case CC_ADD64:
		result = bin(EXPR_ADD, bits, l, r);
		f->c = bin(EXPR_ULT, bits, result, l);
		break;
	case CC_SUB32:
	case CC_SUB64:
		result = bin(EXPR_SUB, bits, l, r);
		f->c = bin(EXPR_ULE, bits, r, l);
		break;
	case CC_ADC32:
	case CC_ADC64:
		result = bin(EXPR_ADD, bits, bin(EXPR_ADD, bits, l, r), wide);
		f->c = expr_ite(g_pool, 1, old, bin(EXPR_ULE, bits, result, l),
				bin(EXPR_ULT, bits, result, l));
		break;
	case CC_SBC32:
	case CC_SBC64:
		result = bin(EXPR_SUB, bits, bin(EXPR_SUB, bits, l, r),
			     bin(EXPR_XOR, bits, wide, val_const(1)));
		f->c = expr_ite(g_pool, 1, old, bin(EXPR_ULE, bits, r, l),
				bin(EXPR_ULT, bits, r, l));
		break;
	default: break;
	}
	f->n = top(result, bits);
	f->z = bin(EXPR_EQ, bits, result, val_const(0));
	if (cc_op.v < CC_LOGIC32) {
		Bool is_sub = (cc_op.v - 1) / 2 % 2;

		f->v = bin(EXPR_AND, 1, is_sub ? not1(same) : same,
			   bin(EXPR_XOR, 1, top(l, bits), top(result, bits)));
	}
	return True;
}

static struct val condition_flags(UInt pair, const struct flags *f)
{
	struct val ge = not1(bin(EXPR_XOR, 1, f->n, f->v));

	switch (pair) {
	case 0: return f->z;
	case 1: return f->c;
	case 2: return f->n;
	case 3: return f->v;
	case 4: return bin(EXPR_AND, 1, f->c, not1(f->z));
	case 5: return ge;
	case 6: return bin(EXPR_AND, 1, ge, not1(f->z));
	default: return val_const(1);
	}
}

static const struct {
	const HChar *name;
	Int what; /* 0: the condition; 1: all flags; else one flag */
} functions[] = {
	{ "arm64g_calculate_condition", 0 }, { "arm64g_calculate_flags_nzcv", 1 },
	{ "arm64g_calculate_flag_n", 'n' },  { "arm64g_calculate_flag_z", 'z' },
	{ "arm64g_calculate_flag_c", 'c' },  { "arm64g_calculate_flag_v", 'v' },
};

static Int function_find(const HChar *name)
{
	for (UInt i = 0; i < sizeof functions / sizeof *functions; i++)
		if (VG_(strcmp)(name, functions[i].name) == 0)
			return functions[i].what;
	return -1;
}

Bool flags_is_known(const HChar *name)
{
	return function_find(name) >= 0;
}

static struct val flags_word(const struct flags *f)
{
	struct val v = expr_concat(g_pool, 1, f->c, 1, f->v);

	v = expr_concat(g_pool, 1, f->n, 3, expr_concat(g_pool, 1, f->z, 2, v));
	return expr_extend(g_pool, EXPR_ZEXT, 32, expr_concat(g_pool, 4, v, 28, val_const(0)), 64);
}

static Bool apply(const HChar *name, const struct val *args, struct val *result)
{
	Int what = function_find(name);
	struct val op = args[0], r;
	struct flags f;

	if (op.id)
		return False;
	if (what == 0)
		op.v &= 15;
	if (!flags_make(op, args[1], args[2], args[3], &f))
		return False;
	switch (what) {
	case 0:
		r = condition_flags(args[0].v >> 5 & 7, &f);
		if ((args[0].v >> 4 & 1) && (args[0].v >> 4) != 15)
			r = not1(r);
		break;
	case 1: *result = flags_word(&f); return True;
	case 'n': r = f.n; break;
	case 'z': r = f.z; break;
	case 'c': r = f.c; break;
	default: r = f.v; break;
	}
	*result = expr_extend(g_pool, EXPR_ZEXT, 1, r, 64);
	return True;
}

/* Finds a choice between two constants, perhaps with the condition's number added to both. */
static Bool choice_find(UInt id, struct val *condition, ULong *yes, ULong *no)
{
	const struct expr *e = expr_at(g_pool, id);
	ULong more = 0;

	for (UInt i = 0; e->op == EXPR_OR && i < 2; i++)
		if (expr_at(g_pool, e->arg[i])->op == EXPR_CONST) {
			more = expr_at(g_pool, e->arg[i])->k;
			e = expr_at(g_pool, e->arg[1 - i]);
		}
	if (e->op != EXPR_ITE || expr_at(g_pool, e->arg[1])->op != EXPR_CONST ||
	    expr_at(g_pool, e->arg[2])->op != EXPR_CONST)
		return False;
	*condition = (struct val){ e->arg[0], expr_at(g_pool, e->arg[0])->value };
	*yes = expr_at(g_pool, e->arg[1])->k | more;
	*no = expr_at(g_pool, e->arg[2])->k | more;
	return True;
}

/* Computes a helper's result. After a conditional comparison, there are two possible operations. */
Bool flags_apply(const HChar *name, const struct val *args, struct val *result)
{
	struct val copy[4] = { args[0], args[1], args[2], args[3] }, condition, yes_v, no_v;
	ULong yes, no;

	if (!args[0].id)
		return apply(name, args, result);
	if (!choice_find(args[0].id, &condition, &yes, &no))
		return False;
	copy[0] = val_const(yes);
	if (!apply(name, copy, &yes_v))
		return False;
	copy[0] = val_const(no);
	if (!apply(name, copy, &no_v))
		return False;
	*result = expr_ite(g_pool, 64, condition, yes_v, no_v);
	return True;
}
