/* Decodes the arm64 instructions that insn.h names; all others are INSN_OTHER. Needed because VEX
 * makes the same IR for all `dc`, for all barriers, and for atomics of any ordering. */
#include "valgrind/common/arch.h"

#include "pub_tool_libcbase.h"

#include "a64/a64.h"

#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))

/* Decodes dc and barriers. */
static void decode_system(struct insn *insn, UInt word)
{
	UInt option = BITS(word, 11, 8);

	switch (word & ~0x1fu) {
	case 0xd50b7a20: insn->event = PMT_DC_CVAC; break;
	case 0xd50b7c20: insn->event = PMT_DC_CVAP; break;
	case 0xd50b7d20: insn->event = PMT_DC_CVADP; break;
	case 0xd50b7e20: insn->event = PMT_DC_CIVAC; break;
	/* cvau is for instructions that were written, not for data */
	case 0xd50b7b20: insn->what = INSN_HINT; return;
	case 0xd50b7420: { /* zva */
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
	else if ((word & 0xfffff0ff) == 0xd503309f && option != 0 &&
		 option != 4) /* options 0 and 4 are ssbb and pssbb */
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

/* Decodes ordered stores and loads, and atomics. */
static void decode_ordered(struct insn *insn, const struct a64 *a, Bool is_known_to_vex)
{
	if (a64_reads(a) && a64_writes(a)) {
		is_ordered_store(insn, order_bits(a->acquires, a->releases) | PMT_ORDER_ATOMIC);
	} else if (a64_writes(a)) {
		is_ordered_store(insn, order_bits(False, a->releases));
		insn->what = is_known_to_vex ? insn->what : INSN_DIRECT_STORE;
	} else if (is_known_to_vex) {
		is_acquire(insn);
	} else {
		insn->what = INSN_DIRECT_LOAD;
	}
	if (!is_known_to_vex)
		insn->size_bytes = a->each_bytes;
}

/* Decodes stp and stnp of general registers. VEX knows neither stnp nor ldnp. */
static void decode_pair(struct insn *insn, const struct a64 *a)
{
	if (a->is_signed)
		return;
	insn->size_bytes = a->each_bytes;
	if (a->kind == A64_STORE) {
		insn->what = INSN_PAIR;
		insn->event = PMT_STORE_PAIR;
	} else if (a->is_hinted) {
		insn->what = INSN_DIRECT_LOAD;
		insn->size_bytes *= 2;
	}
}

/* Decodes stores of vectors: the parts of a whole vector may become durable separately; a single
 * lane has no parts. */
static void decode_vector(struct insn *insn, const struct a64 *a, Bool is_lane)
{
	if (a->kind != A64_STORE || is_lane || (!a->is_structure && a->each_bytes != 16))
		return;
	insn->event = PMT_STORE_VECTOR;
	insn->arg = a->each_bytes;
}

/* Decodes loads and stores. VEX knows neither ldapr nor ldapur and stlur. */
static void decode_memory(struct insn *insn, const struct a64 *a, UInt word)
{
	const UInt group = BITS(word, 29, 24);
	const Bool is_rcpc = group == 0x19 || (group == 0x38 && a->kind == A64_LOAD);

	if (a->kind == A64_ATOMIC || a->kind == A64_STORE_EXCLUSIVE || a->acquires || a->releases)
		decode_ordered(insn, a, !is_rcpc);
	else if (a->file == A64_VECTOR)
		decode_vector(insn, a, a->is_structure && BITS(word, 24, 24));
	else if (a->file == A64_GENERAL && a->nregs == 2 && a->kind != A64_LOAD_EXCLUSIVE)
		decode_pair(insn, a);
}

struct insn arch_decode(Addr pc, const UChar *code)
{
	struct insn insn = { .pc = pc, .len_bytes = 4 };
	struct a64 a;
	UInt word;

	VG_(memcpy)(insn.code, code, sizeof insn.code);
	VG_(memcpy)(&word, code, sizeof word);
	a64_decode(&a, word);
	if (BITS(word, 31, 24) == 0xd5)
		decode_system(&insn, word);
	else if (a.kind != A64_OTHER)
		decode_memory(&insn, &a, word);
	else if ((word & 0xbf80001f) == 0x9100001f &&
		 BITS(word, 9, 5) != 31) /* add or sub to sp from another register */
		insn.what = INSN_SET_STACK;
	return insn;
}
