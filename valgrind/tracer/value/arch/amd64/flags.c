/* Computes condition codes of x86-64 as expressions. VEX keeps the last operation that set them and
 * its operands, and calls a helper when it needs a flag; this file computes the helper's result.
 * Numbers of operations and conditions are from VEX's priv/guest_amd64_defs.h. */
#include "valgrind/tracer/value/flags.h"

enum cc_op { /* each stands for four: 8, 16, 32 and 64 bits */
	     CC_COPY = 0,
	     CC_ADD = 1,
	     CC_SUB = 5,
	     CC_ADC = 9,
	     CC_SBB = 13,
	     CC_LOGIC = 17,
	     CC_INC = 21,
	     CC_DEC = 25,
	     CC_SHL = 29,
	     CC_SHR = 33,
	     CC_ROL = 37,
	     CC_ROR = 41,
	     CC_UMUL = 45,
	     CC_SMUL = 49,
	     CC_ANDN = 53, /* from here on for two: 32 and 64 bits */
	     CC_BLSI = 55,
	     CC_BLSMSK = 57,
	     CC_BLSR = 59,
	     CC_ADCX = 61, /* from here on not supported */
};

enum { BIT_C = 0, BIT_P = 2, BIT_A = 4, BIT_Z = 6, BIT_S = 7, BIT_O = 11 };

struct flags {
	struct val c, p, a, z, s, o; /* 1 bit each */
};

static struct val bin(enum expr_op op, UInt bits, struct val a, struct val b)
{
	return expr_binary(g_pool, op, bits, a, b);
}

static struct val not1(struct val a)
{
	return expr_unary(g_pool, EXPR_NOT, 1, a);
}

static struct val bit(struct val v, UInt bits, UInt n)
{
	return val_cut(v, bits, n, 1);
}

static struct val is_zero(struct val v, UInt bits)
{
	return bin(EXPR_EQ, bits, v, val_const(0));
}

/* Makes the parity flag: is the number of ones in the lowest byte even? */
static struct val parity(struct val v, UInt bits)
{
	struct val x = val_cut(v, bits, 0, 8);

	x = bin(EXPR_XOR, 8, x, bin(EXPR_LSHR, 8, x, val_const(4)));
	x = bin(EXPR_XOR, 8, x, bin(EXPR_LSHR, 8, x, val_const(2)));
	x = bin(EXPR_XOR, 8, x, bin(EXPR_LSHR, 8, x, val_const(1)));
	return not1(bit(x, 8, 0));
}

static void result_flags(struct flags *f, struct val result, UInt bits)
{
	f->z = is_zero(result, bits);
	f->s = bit(result, bits, bits - 1);
	f->p = parity(result, bits);
}

static struct val half_carry(struct val l, struct val r, struct val result, UInt bits)
{
	return bit(bin(EXPR_XOR, bits, bin(EXPR_XOR, bits, result, l), r), bits, 4);
}

static void add_flags(struct flags *f, struct val l, struct val r, struct val carry,
		      Bool with_carry, UInt bits)
{
	struct val sum = bin(EXPR_ADD, bits, l, r),
		   wide = expr_extend(g_pool, EXPR_ZEXT, 1, carry, bits);

	f->c = bin(EXPR_ULT, bits, sum, l);
	if (with_carry) {
		sum = bin(EXPR_ADD, bits, sum, wide);
		f->c = expr_ite(g_pool, 1, carry, bin(EXPR_ULE, bits, sum, l),
				bin(EXPR_ULT, bits, sum, l));
	}
	result_flags(f, sum, bits);
	f->a = half_carry(l, r, sum, bits);
	f->o = bin(EXPR_AND, 1,
		   not1(bin(EXPR_XOR, 1, bit(l, bits, bits - 1), bit(r, bits, bits - 1))),
		   bin(EXPR_XOR, 1, bit(l, bits, bits - 1), bit(sum, bits, bits - 1)));
}

static void sub_flags(struct flags *f, struct val l, struct val r, struct val borrow,
		      Bool with_borrow, UInt bits)
{
	struct val rest = bin(EXPR_SUB, bits, l, r),
		   wide = expr_extend(g_pool, EXPR_ZEXT, 1, borrow, bits);

	f->c = bin(EXPR_ULT, bits, l, r);
	if (with_borrow) {
		rest = bin(EXPR_SUB, bits, rest, wide);
		f->c = expr_ite(g_pool, 1, borrow, bin(EXPR_ULE, bits, l, r), f->c);
	}
	result_flags(f, rest, bits);
	f->a = half_carry(l, r, rest, bits);
	f->o = bin(EXPR_AND, 1, bin(EXPR_XOR, 1, bit(l, bits, bits - 1), bit(r, bits, bits - 1)),
		   bin(EXPR_XOR, 1, bit(l, bits, bits - 1), bit(rest, bits, bits - 1)));
}

static void mul_flags(struct flags *f, Bool is_signed, struct val l, struct val r, UInt bits)
{
	struct val low = bin(EXPR_MUL, bits, l, r),
		   high = bin(is_signed ? EXPR_SMULH : EXPR_UMULH, bits, l, r);
	struct val expected =
		is_signed ? bin(EXPR_ASHR, bits, low, val_const(bits - 1)) : val_const(0);

	result_flags(f, low, bits);
	f->c = f->o = not1(bin(EXPR_EQ, bits, high, expected));
}

/* Takes the flags from the old flags word. */
static void old_flags(struct flags *f, struct val old)
{
	*f = (struct flags){ .c = bit(old, 64, BIT_C),
			     .p = bit(old, 64, BIT_P),
			     .a = bit(old, 64, BIT_A),
			     .z = bit(old, 64, BIT_Z),
			     .s = bit(old, 64, BIT_S),
			     .o = bit(old, 64, BIT_O) };
}

static Bool four_widths(enum cc_op op, UInt bits, struct val dep1, struct val dep2, struct val ndep,
			struct flags *f)
{
	struct val l = val_cut(dep1, 64, 0, bits), r = val_cut(dep2, 64, 0, bits),
		   carry = bit(ndep, 64, BIT_C);
	struct val r_with = bin(EXPR_XOR, bits, r, expr_extend(g_pool, EXPR_ZEXT, 1, carry, bits)),
		   top = bit(l, bits, bits - 1);

	switch (op) {
	case CC_ADD: add_flags(f, l, r, val_const(0), False, bits); break;
	case CC_SUB: sub_flags(f, l, r, val_const(0), False, bits); break;
	case CC_ADC: add_flags(f, l, r_with, carry, True, bits); break;
	case CC_SBB: sub_flags(f, l, r_with, carry, True, bits); break;
	case CC_LOGIC: result_flags(f, l, bits); break;
	case CC_INC:
	case CC_DEC:
		result_flags(f, l, bits);
		f->c = carry;
		f->a = half_carry(bin(op == CC_INC ? EXPR_SUB : EXPR_ADD, bits, l, val_const(1)),
				  val_const(1), l, bits);
		f->o = bin(EXPR_EQ, bits, l, val_const((1ULL << (bits - 1)) - (op == CC_DEC)));
		break;
	case CC_SHL:
	case CC_SHR:
		result_flags(f, l, bits);
		f->c = bit(r, bits, op == CC_SHL ? bits - 1 : 0);
		f->o = bit(bin(EXPR_XOR, bits, l, r), bits, bits - 1);
		break;
	case CC_ROL:
		old_flags(f, ndep);
		f->c = bit(l, bits, 0);
		f->o = bin(EXPR_XOR, 1, top, bit(l, bits, 0));
		break;
	case CC_ROR:
		old_flags(f, ndep);
		f->c = top;
		f->o = bin(EXPR_XOR, 1, top, bit(l, bits, bits - 2));
		break;
	case CC_UMUL:
	case CC_SMUL: mul_flags(f, op == CC_SMUL, l, r, bits); break;
	default: return False;
	}
	return True;
}

static Bool two_widths(enum cc_op op, UInt bits, struct val dep1, struct val dep2, struct flags *f)
{
	struct val l = val_cut(dep1, 64, 0, bits), r = val_cut(dep2, 64, 0, bits);

	f->z = is_zero(l, bits);
	f->s = bit(l, bits, bits - 1);
	switch (op) {
	case CC_ANDN: break;
	case CC_BLSI: f->c = not1(is_zero(r, bits)); break;
	case CC_BLSMSK:
		f->c = is_zero(r, bits);
		f->z = val_const(0);
		break;
	case CC_BLSR: f->c = is_zero(r, bits); break;
	default: return False;
	}
	return True;
}

static Bool flags_make(struct val cc_op, struct val dep1, struct val dep2, struct val ndep,
		       struct flags *f)
{
	VG_(memset)(f, 0, sizeof *f);
	if (cc_op.id || cc_op.v >= CC_ADCX)
		return False;
	if (cc_op.v == CC_COPY) {
		old_flags(f, dep1);
		return True;
	}
	if (cc_op.v >= CC_ANDN)
		return two_widths(CC_ANDN + (cc_op.v - CC_ANDN) / 2 * 2,
				  32 << (cc_op.v - CC_ANDN) % 2, dep1, dep2, f);
	return four_widths(CC_ADD + (cc_op.v - CC_ADD) / 4 * 4, 8 << (cc_op.v - CC_ADD) % 4, dep1,
			   dep2, ndep, f);
}

/* Computes a condition after a subtraction as a comparison, which helps a solver more than flags
 * do. */
static Bool compare(UInt condition, UInt bits, struct val l, struct val r, struct val *result)
{
	switch (condition) {
	case 2: *result = bin(EXPR_ULT, bits, l, r); return True;
	case 4: *result = bin(EXPR_EQ, bits, l, r); return True;
	case 6: *result = bin(EXPR_ULE, bits, l, r); return True;
	case 12: *result = bin(EXPR_SLT, bits, l, r); return True;
	case 14: *result = bin(EXPR_SLE, bits, l, r); return True;
	default: return False;
	}
}

static struct val condition_flags(UInt condition, const struct flags *f)
{
	struct val less = bin(EXPR_XOR, 1, f->s, f->o);

	switch (condition) {
	case 0: return f->o;
	case 2: return f->c;
	case 4: return f->z;
	case 6: return bin(EXPR_OR, 1, f->c, f->z);
	case 8: return f->s;
	case 10: return f->p;
	case 12: return less;
	default: return bin(EXPR_OR, 1, less, f->z);
	}
}

/* Computes a condition. An odd condition is the opposite of the even one before it. */
static Bool condition_make(const struct val *args, struct val *result)
{
	struct val cond = args[0], cc_op = args[1], r;
	struct flags f;

	if (cond.id || cond.v > 15 || cc_op.id)
		return False;
	if (cc_op.v >= CC_SUB && cc_op.v < CC_ADC) {
		UInt bits = 8 << (cc_op.v - CC_SUB);

		if (compare(cond.v & ~1u, bits, val_cut(args[2], 64, 0, bits),
			    val_cut(args[3], 64, 0, bits), &r))
			goto done;
	}
	if (!flags_make(cc_op, args[2], args[3], args[4], &f))
		return False;
	r = condition_flags(cond.v & ~1u, &f);
done:
	*result = expr_extend(g_pool, EXPR_ZEXT, 1, cond.v & 1 ? not1(r) : r, 64);
	return True;
}

static struct val flags_word(const struct flags *f)
{
	const struct {
		struct val v;
		UInt at;
	} parts[] = { { f->c, BIT_C }, { f->p, BIT_P }, { f->a, BIT_A },
		      { f->z, BIT_Z }, { f->s, BIT_S }, { f->o, BIT_O } };
	struct val word = val_const(0);

	for (UInt i = 0; i < sizeof parts / sizeof *parts; i++)
		word = bin(EXPR_OR, 64, word,
			   bin(EXPR_SHL, 64, expr_extend(g_pool, EXPR_ZEXT, 1, parts[i].v, 64),
			       val_const(parts[i].at)));
	return word;
}

Bool flags_is_known(const HChar *name)
{
	return VG_(strcmp)(name, "amd64g_calculate_condition") == 0 ||
	       VG_(strcmp)(name, "amd64g_calculate_rflags_c") == 0 ||
	       VG_(strcmp)(name, "amd64g_calculate_rflags_all") == 0;
}

static Bool apply(const HChar *name, const struct val *args, struct val *result)
{
	struct flags f;

	if (VG_(strcmp)(name, "amd64g_calculate_condition") == 0)
		return condition_make(args, result);
	if (!flags_make(args[0], args[1], args[2], args[3], &f))
		return False;
	*result = VG_(strcmp)(name, "amd64g_calculate_rflags_c") == 0
			  ? expr_extend(g_pool, EXPR_ZEXT, 1, f.c, 64)
			  : flags_word(&f);
	return True;
}

/* Computes a helper's result. The arguments are [condition,] operation, its two operands, and the
 * old flags. After a shift, the operation depends on whether the count was 0. */
Bool flags_apply(const HChar *name, const struct val *args, struct val *result)
{
	const UInt at = VG_(strcmp)(name, "amd64g_calculate_condition") == 0;
	const struct expr *e = args[at].id ? expr_at(g_pool, args[at].id) : NULL;
	struct val copy[FLAGS_ARGS_MAX], yes, no;

	if (!e || e->op != EXPR_ITE)
		return apply(name, args, result);
	for (UInt i = 0; i < 4 + at; i++)
		copy[i] = args[i];
	for (UInt i = 0; i < 2; i++) {
		const struct expr *k = expr_at(g_pool, e->arg[1 + i]);

		copy[at] = val_const(k->k);
		if (k->op != EXPR_CONST || !apply(name, copy, i == 0 ? &yes : &no))
			return False;
	}
	*result = expr_ite(g_pool, 64, (struct val){ e->arg[0], expr_at(g_pool, e->arg[0])->value },
			   yes, no);
	return True;
}
