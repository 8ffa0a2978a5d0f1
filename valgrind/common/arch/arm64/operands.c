/* Makes IR for operands of arm64 instructions: the register of a `dc`, and the effects of
 * instructions that VEX cannot decode. */
#include "valgrind/common/ir.h"

#include "pub_tool_libcbase.h"
#include "libvex_guest_arm64.h"

#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))

static UInt word_of(const struct insn *insn)
{
	UInt word;

	VG_(memcpy)(&word, insn->code, sizeof word);
	return word;
}

static Int register_offset(UInt reg)
{
	return offsetof(VexGuestARM64State, guest_X0) + 8 * (Int)reg;
}

/* Gives the value of the base register of an address. As a base, register 31 is the stack pointer;
 * elsewhere it is zero. */
static IRExpr *base(IRSB *sb, UInt reg)
{
	return ir_register(sb, reg == 31 ? arch_sp_offset : register_offset(reg));
}

static IRExpr *get(IRSB *sb, UInt reg)
{
	return reg == 31 ? ir_u64(0) : ir_register(sb, register_offset(reg));
}

static void put_register(IRSB *sb, UInt reg, IRExpr *e)
{
	if (reg != 31)
		addStmtToIRSB(sb, IRStmt_Put(register_offset(reg), e));
}

static Bool is_dc(const struct insn *insn)
{
	return BITS(word_of(insn), 31, 24) == 0xd5;
}

static Bool is_pair(const struct insn *insn)
{
	return BITS(word_of(insn), 29, 27) == 5;
}

/* Adds IR for the address of a dc, a pair or ldapur. Pairs have no pre- or post-increment here,
 * because VEX decodes those; ldapr has no offset. */
IRExpr *arch_address(IRSB *sb, const struct insn *insn)
{
	UInt word = word_of(insn);
	Long offset = 0;

	if (is_dc(insn))
		return get(sb, BITS(word, 4, 0));
	if (is_pair(insn))
		offset = (((Long)BITS(word, 21, 15) ^ 64) - 64) * (BITS(word, 31, 31) ? 8 : 4);
	else if (BITS(word, 29, 24) == 0x19)
		offset = ((Long)BITS(word, 20, 12) ^ 256) - 256;
	return ir_add(sb, base(sb, BITS(word, 9, 5)), ir_u64((ULong)offset));
}

Bool arch_find_mask(const IRSB *in, Int first_stmt, UInt size_bytes, IRExpr **lo, IRExpr **hi)
{
	return False;
}

/* ---- instructions that VEX cannot decode ---- */

static IRType type_of(UInt size_bytes)
{
	return size_bytes == 1   ? Ity_I8
	       : size_bytes == 2 ? Ity_I16
	       : size_bytes == 4 ? Ity_I32
				 : Ity_I64;
}

static void store(IRSB *sb, UInt reg, IRExpr *to, UInt size_bytes)
{
	static const IROp narrow[] = { [1] = Iop_64to8, [2] = Iop_64to16, [4] = Iop_64to32 };
	IRExpr *e = get(sb, reg);

	ir_store(sb, to,
		 size_bytes == 8 ? e : ir_unop(sb, type_of(size_bytes), narrow[size_bytes], e));
}

static IRExpr *widen(IRSB *sb, IRExpr *e, UInt size_bytes, Bool is_signed)
{
	static const IROp zeros[] = { [1] = Iop_8Uto64, [2] = Iop_16Uto64, [4] = Iop_32Uto64 };
	static const IROp signs[] = { [1] = Iop_8Sto64, [2] = Iop_16Sto64, [4] = Iop_32Sto64 };

	return size_bytes == 8 ? e
			       : ir_unop(sb, Ity_I64, (is_signed ? signs : zeros)[size_bytes], e);
}

/* Adds ldapr or ldapur; ldapur may extend the sign to half a register or a whole one. */
static void load_add(IRSB *sb, struct added_insn *added)
{
	UInt word = word_of(&added->insn), size = added->insn.size_bytes;
	UInt opc = BITS(word, 29, 24) == 0x19 ? BITS(word, 23, 22) : 1;
	IRExpr *e = widen(sb, ir_load(sb, type_of(size), added->loaded), size, opc >= 2);

	if (opc == 3)
		e = ir_binop(sb, Ity_I64, Iop_And64, e, ir_u64(0xffffffffu));
	put_register(sb, BITS(word, 4, 0), e);
}

static void load_pair_add(IRSB *sb, struct added_insn *added)
{
	UInt word = word_of(&added->insn), size = added->insn.size_bytes / 2;
	IRExpr *first = ir_load(sb, type_of(size), added->loaded);
	IRExpr *second = ir_load(sb, type_of(size), ir_add(sb, added->loaded, ir_u64(size)));

	put_register(sb, BITS(word, 4, 0), widen(sb, first, size, False));
	put_register(sb, BITS(word, 14, 10), widen(sb, second, size, False));
}

static void store_pair_add(IRSB *sb, struct added_insn *added)
{
	UInt word = word_of(&added->insn), size = added->insn.size_bytes;

	store(sb, BITS(word, 4, 0), added->stored, size);
	store(sb, BITS(word, 14, 10), ir_add(sb, added->stored, ir_u64(size)), size);
	added->insn.size_bytes = 2 * size;
}

static void clear_add(IRSB *sb, struct added_insn *added)
{
	added->stored = ir_binop(sb, Ity_I64, Iop_And64, added->stored,
				 ir_u64(~((ULong)added->insn.size_bytes - 1)));
	for (UInt i = 0; i < added->insn.size_bytes; i += 8)
		ir_store(sb, ir_add(sb, added->stored, ir_u64(i)), ir_u64(0));
}

Bool arch_add_insn(IRSB *sb, struct added_insn *added)
{
	switch (added->insn.what) {
	case INSN_DIRECT_STORE:
		added->stored = arch_address(sb, &added->insn);
		store(sb, BITS(word_of(&added->insn), 4, 0), added->stored, added->insn.size_bytes);
		return True;
	case INSN_PAIR:
		added->stored = arch_address(sb, &added->insn);
		store_pair_add(sb, added);
		return True;
	case INSN_CLEAR:
		added->stored = arch_address(sb, &added->insn);
		clear_add(sb, added);
		return True;
	case INSN_DIRECT_LOAD:
		added->loaded = arch_address(sb, &added->insn);
		if (is_pair(&added->insn))
			load_pair_add(sb, added);
		else
			load_add(sb, added);
		return True;
	case INSN_FLUSH: /* has no effect on what the program computes */
	case INSN_HINT: return True;
	case INSN_DIRECT_COPY:
	case INSN_FENCE:
	case INSN_NT_STORE:
	case INSN_MASK_MOVE:
	case INSN_STRING:
	case INSN_ACQUIRE:
	case INSN_SET_STACK:
	case INSN_OTHER: break;
	}
	return False;
}

Bool arch_add_stmt(IRSB *sb, IRStmt *st)
{
	return False;
}
