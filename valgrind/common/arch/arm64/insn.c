/* Instructions of arm64, by their bits. Only those that insn.h names are told apart; the rest is INSN_OTHER.
 * VEX makes the same IR of all `dc`, of all barriers, and of atomics with any ordering: hence the bits. */
#include "valgrind/common/arch.h"

#include "pub_tool_libcbase.h"

#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))
#define ZERO_REGISTER 31

/* DC and barriers. */
static void decode_system(struct insn *insn, UInt word)
{
	UInt option = BITS(word, 11, 8);

	switch (word & ~0x1fu) {
	case 0xd50b7a20: insn->event = PMT_DC_CVAC; break;
	case 0xd50b7c20: insn->event = PMT_DC_CVAP; break;
	case 0xd50b7d20: insn->event = PMT_DC_CVADP; break;
	case 0xd50b7e20: insn->event = PMT_DC_CIVAC; break;
	case 0xd50b7b20: insn->what = INSN_HINT; return; /* cvau: for instructions that were written, not for data */
	case 0xd50b7420: {				      /* zva */
		ULong dczid;

		__asm__("mrs %0, dczid_el0" : "=r"(dczid));
		insn->what = INSN_CLEAR;
		insn->size_bytes = 4u << (dczid & 15);
		insn->event = PMT_STORE_VECTOR;
		insn->arg = 1;
		return;
	}
	default: break;
	}
	if (insn->event != 0) {
		insn->what = INSN_FLUSH;
		return;
	}
	if ((word & 0xfffff0ff) == 0xd50330bf)
		insn->event = PMT_DMB;
	else if ((word & 0xfffff0ff) == 0xd503309f && option != 0 && option != 4) /* these are ssbb and pssbb */
		insn->event = PMT_DSB;
	else
		return;
	insn->what = INSN_FENCE;
	insn->arg = option;
	return;
}

static void is_ordered_store(struct insn *insn, UInt order)
{
	insn->event = PMT_STORE_ORDERED;
	insn->arg = order;
}

static void is_acquire(struct insn *insn)
{
	insn->what = INSN_ACQUIRE;
	insn->event = PMT_ORDER;
	insn->arg = PMT_ORDER_ACQUIRE;
}

static UInt order_bits(Bool acquires, Bool releases)
{
	return (acquires ? PMT_ORDER_ACQUIRE : 0) | (releases ? PMT_ORDER_RELEASE : 0);
}

/* Exclusive pairs, ldar and stlr, compare-and-swap. */
static void decode_exclusive(struct insn *insn, UInt word)
{
	Bool o2 = BITS(word, 23, 23), is_load = BITS(word, 22, 22), o1 = BITS(word, 21, 21), o0 = BITS(word, 15, 15);

	if (o1 && (o2 || !BITS(word, 31, 31))) /* cas; casp */
		is_ordered_store(insn, order_bits(is_load, o0) | PMT_ORDER_ATOMIC);
	else if (!is_load)
		is_ordered_store(insn, order_bits(False, o2 || o0)); /* with o2 and without o0 it is stllr */
	else if (o2 || o0)
		is_acquire(insn);
}

/* LSE: ldadd and its like, swp. And ldapr, which VEX does not decode. */
static void decode_atomic(struct insn *insn, UInt word)
{
	Bool has_result = BITS(word, 4, 0) != ZERO_REGISTER; /* without one, acquire means nothing */

	if ((word & 0x3ffffc00) == 0x38bfc000) {
		insn->what = INSN_DIRECT_LOAD;
		insn->size_bytes = 1u << BITS(word, 31, 30);
	} else if (BITS(word, 15, 15) == 0 || BITS(word, 14, 12) == 0) {
		is_ordered_store(insn, order_bits(BITS(word, 23, 23) && has_result, BITS(word, 22, 22)) | PMT_ORDER_ATOMIC);
	}
}

/* stlur, ldapur: VEX decodes none of them. */
static void decode_unscaled(struct insn *insn, UInt word)
{
	insn->size_bytes = 1u << BITS(word, 31, 30);
	insn->what = BITS(word, 23, 22) == 0 ? INSN_DIRECT_STORE : INSN_DIRECT_LOAD;
	if (insn->what == INSN_DIRECT_STORE)
		is_ordered_store(insn, PMT_ORDER_RELEASE);
}

static void is_vector_store(struct insn *insn, UInt element_bytes)
{
	insn->event = PMT_STORE_VECTOR;
	insn->arg = element_bytes;
}

/* stp, stnp of general registers, of which VEX does not decode the second, nor ldnp. stp of vectors. */
static void decode_pair(struct insn *insn, UInt word)
{
	UInt opc = BITS(word, 31, 30);
	Bool is_load = BITS(word, 22, 22), is_hinted = BITS(word, 25, 23) == 0;

	if (BITS(word, 26, 26)) {
		if (opc == 2 && !is_load)
			is_vector_store(insn, 16);
		return;
	}
	if (opc & 1) /* ldpsw, stgp */
		return;
	insn->size_bytes = opc == 2 ? 8 : 4;
	if (!is_load) {
		insn->what = INSN_PAIR;
		insn->event = PMT_STORE_PAIR;
	} else if (is_hinted) {
		insn->what = INSN_DIRECT_LOAD;
		insn->size_bytes *= 2;
	}
}

struct insn arch_decode(Addr pc, const UChar *code)
{
	struct insn insn = { .pc = pc, .len_bytes = 4 };
	UInt word;

	VG_(memcpy)(insn.code, code, sizeof insn.code);
	VG_(memcpy)(&word, code, sizeof word);
	if (BITS(word, 31, 24) == 0xd5)
		decode_system(&insn, word);
	else if (BITS(word, 29, 24) == 0x08)
		decode_exclusive(&insn, word);
	else if (BITS(word, 29, 24) == 0x38 && BITS(word, 21, 21) == 1 && BITS(word, 11, 10) == 0)
		decode_atomic(&insn, word);
	else if (BITS(word, 29, 24) == 0x19 && BITS(word, 21, 21) == 0 && BITS(word, 11, 10) == 0)
		decode_unscaled(&insn, word);
	else if (BITS(word, 29, 27) == 5 && BITS(word, 25, 25) == 0)
		decode_pair(&insn, word);
	else if (BITS(word, 31, 25) == 0x1e && BITS(word, 23, 22) == 2) /* str q */
		is_vector_store(&insn, 16);
	else if ((word & 0xbf400000) == 0x0c000000) /* st1 to st4 of whole registers */
		is_vector_store(&insn, 1u << BITS(word, 11, 10));
	else if ((word & 0xbf80001f) == 0x9100001f && BITS(word, 9, 5) != 31) /* add or sub to sp, of another register */
		insn.what = INSN_SET_STACK;
	return insn;
}
