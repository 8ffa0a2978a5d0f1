/* Makes IR for operands of x86-64 instructions: the address in ModRM, SIB and displacement, and the
 * effects of instructions that VEX cannot decode. */
#include "valgrind/common/ir.h"

#include "pub_tool_libcbase.h"
#include "libvex_guest_amd64.h"

static Int register_offset(UInt reg)
{
#define AT(NAME) offsetof(VexGuestAMD64State, guest_##NAME)
	static const Int offsets[16] = { AT(RAX), AT(RCX), AT(RDX), AT(RBX), AT(RSP), AT(RBP),
					 AT(RSI), AT(RDI), AT(R8),  AT(R9),  AT(R10), AT(R11),
					 AT(R12), AT(R13), AT(R14), AT(R15) };
#undef AT

	return offsets[reg];
}

static Long read_disp32(const UChar *p)
{
	Int d;

	VG_(memcpy)(&d, p, sizeof d);
	return d;
}

/* base + (index << scale) + offset; register -1 is none. */
struct operand {
	Int base, index;
	UInt scale;
	Long offset;
};

static struct operand operand_of(const struct insn *insn)
{
	const UChar *m = insn->code + insn->prefix_bytes, *disp = m + 1;
	UInt mod = m[0] >> 6, rm = m[0] & 7;
	struct operand o = { .base = (Int)(rm | (insn->rex & 1 ? 8 : 0)), .index = -1 };

	if (rm == 4) {
		UChar sib = *disp++;

		o.scale = sib >> 6;
		o.index = (sib >> 3 & 7) | (insn->rex & 2 ? 8 : 0);
		if (o.index == 4)
			o.index = -1;
		o.base = (sib & 7) | (insn->rex & 1 ? 8 : 0);
		if ((sib & 7) == 5 && mod == 0) {
			o.base = -1;
			o.offset = read_disp32(disp);
		}
	} else if (rm == 5 && mod == 0) {
		o.base = -1;
		o.offset = read_disp32(disp) + (Long)(insn->pc + insn->len_bytes);
	}
	if (mod == 1)
		o.offset = (signed char)*disp;
	else if (mod == 2)
		o.offset = read_disp32(disp);
	return o;
}

IRExpr *arch_address(IRSB *sb, const struct insn *insn)
{
	struct operand o = operand_of(insn);
	IRExpr *e = ir_u64((ULong)o.offset);

	if (o.base >= 0)
		e = ir_add(sb, ir_register(sb, register_offset(o.base)), e);
	if (o.index >= 0)
		e = ir_add(sb,
			   ir_binop(sb, Ity_I64, Iop_Shl64,
				    ir_register(sb, register_offset(o.index)),
				    IRExpr_Const(IRConst_U8(o.scale))),
			   e);
	if (insn->is_addr32)
		e = ir_binop(sb, Ity_I64, Iop_And64, e, ir_u64(0xffffffffu));
	if (insn->segment)
		e = ir_add(sb,
			   ir_register(sb, insn->segment == 0x64
						   ? offsetof(VexGuestAMD64State, guest_FS_CONST)
						   : offsetof(VexGuestAMD64State, guest_GS_CONST)),
			   e);
	return e;
}

/* Gives the value of the register that the ModRM byte names. */
static IRExpr *register_of(IRSB *sb, const struct insn *insn)
{
	return ir_register(sb, register_offset((insn->code[insn->prefix_bytes] >> 3 & 7) |
					       (insn->rex & 4 ? 8 : 0)));
}

/* Finds the mask of maskmovdqu, whose IR reads, merges and writes back, although only selected
 * bytes are stored. VEX builds the mask with one 64HLtoV128, or for maskmovq with SarN8x8. */
Bool arch_find_mask(const IRSB *in, Int first_stmt, UInt size_bytes, IRExpr **lo, IRExpr **hi)
{
	const IROp op = size_bytes == 16 ? Iop_64HLtoV128 : Iop_SarN8x8;

	for (Int i = first_stmt; i < in->stmts_used; i++) {
		const IRStmt *st = in->stmts[i];
		const IRExpr *e;

		if (st == NULL || st->tag != Ist_WrTmp)
			continue;
		e = st->Ist.WrTmp.data;
		if (e->tag != Iex_Binop || e->Iex.Binop.op != op)
			continue;
		*hi = size_bytes == 16 ? e->Iex.Binop.arg1 : ir_u64(0);
		*lo = size_bytes == 16 ? e->Iex.Binop.arg2 : IRExpr_RdTmp(st->Ist.WrTmp.tmp);
		return True;
	}
	return False;
}

/* ---- instructions that VEX cannot decode ---- */

static void direct_store_add(IRSB *sb, struct added_insn *added)
{
	IRExpr *reg;

	added->stored = arch_address(sb, &added->insn);
	reg = register_of(sb, &added->insn);
	ir_store(sb, added->stored,
		 added->insn.size_bytes == 8 ? reg : ir_unop(sb, Ity_I32, Iop_64to32, reg));
}

static void direct_copy_add(IRSB *sb, struct added_insn *added)
{
	IRExpr *words[8];

	added->loaded = arch_address(sb, &added->insn);
	added->stored = register_of(sb, &added->insn);
	for (UInt i = 0; i < 8; i++)
		words[i] = ir_load(sb, Ity_I64, ir_add(sb, added->loaded, ir_u64(8 * i)));
	for (UInt i = 0; i < 8; i++)
		ir_store(sb, ir_add(sb, added->stored, ir_u64(8 * i)), words[i]);
}

Bool arch_add_insn(IRSB *sb, struct added_insn *added)
{
	switch (added->insn.what) {
	case INSN_DIRECT_STORE: direct_store_add(sb, added); return True;
	case INSN_DIRECT_COPY: direct_copy_add(sb, added); return True;
	/* has no effect on what the program computes */
	case INSN_FLUSH: return added->insn.event != PMT_CLFLUSH;
	case INSN_HINT: return True;
	case INSN_FENCE:
	case INSN_NT_STORE:
	case INSN_MASK_MOVE:
	case INSN_STRING:
	case INSN_DIRECT_LOAD:
	case INSN_CLEAR:
	case INSN_ACQUIRE:
	case INSN_PAIR:
	case INSN_SET_STACK:
	case INSN_OTHER: break;
	}
	return False;
}
