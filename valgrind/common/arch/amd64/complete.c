/* See extra.h. Instructions are decoded by the recorder's decode.c. */
#include "valgrind/common/complete.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "libvex_guest_amd64.h"
#include "valgrind/common/insn.h"

static UInt copy_code(UChar *to, Addr from, UInt max)
{
	UInt n = 0;

	for (; n < max; n++) {
		if ((n == 0 || ((from + n) & 0xfff) == 0) && !VG_(am_is_valid_for_client)(from + n, 1, VKI_PROT_READ))
			break;
		to[n] = *(const UChar *)(from + n);
	}
	return n;
}

static IRExpr *bind(IRSB *sb, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(sb->tyenv, type);

	addStmtToIRSB(sb, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *offset(IRSB *sb, IRExpr *a, ULong n)
{
	return bind(sb, Ity_I64, IRExpr_Binop(Iop_Add64, a, IRExpr_Const(IRConst_U64(n))));
}

static void movdir(IRSB *sb, const struct insn *insn, const UChar *code, Addr pc)
{
	IRExpr *mem = insn_address(sb, code, insn, pc), *words[8];
	IRExpr *reg = bind(sb, Ity_I64, IRExpr_Get(insn_register_offset(insn_register(code, insn)), Ity_I64));

	if (insn->what == INSN_MOVDIRI) {
		addStmtToIRSB(sb, IRStmt_Store(Iend_LE, mem, insn->size_bytes == 8 ? reg : bind(sb, Ity_I32, IRExpr_Unop(Iop_64to32, reg))));
		return;
	}
	for (UInt i = 0; i < 8; i++)
		words[i] = bind(sb, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, offset(sb, mem, 8 * i)));
	for (UInt i = 0; i < 8; i++)
		addStmtToIRSB(sb, IRStmt_Store(Iend_LE, offset(sb, reg, 8 * i), words[i]));
}

/* A block that ends because VEX does not know the next instruction. */
static void undecoded(IRSB *sb)
{
	UChar code[16] = { 0 };
	struct insn insn;
	Addr pc;

	if (sb->next->tag != Iex_Const)
		return;
	pc = sb->next->Iex.Const.con->Ico.U64;
	if (copy_code(code, pc, 15) == 0)
		return;
	insn = insn_decode(code);
	switch (insn.what) {
	case INSN_CLWB:
	case INSN_CLFLUSHOPT:
	case INSN_CLDEMOTE: break; /* of no effect on what the program computes */
	case INSN_MOVDIRI:
	case INSN_MOVDIR64B: movdir(sb, &insn, code, pc); break;
	default: return;
	}
	sb->next = IRExpr_Const(IRConst_U64(pc + insn.len_bytes));
	sb->jumpkind = Ijk_Boring;
}

static VG_REGPARM(2) ULong cpuid_extra(ULong leaf, ULong subleaf)
{
	return (UInt)leaf == 7 && (UInt)subleaf == 0 ? 1u << 23 | 1u << 24 : 0; /* clflushopt, clwb */
}

static void cpuid(IRSB *sb, IRStmt *st)
{
	const Int rbx = offsetof(VexGuestAMD64State, guest_RBX);
	IRExpr *leaf = bind(sb, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RAX), Ity_I64));
	IRExpr *sub = bind(sb, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RCX), Ity_I64));
	IRTemp bits = newIRTemp(sb->tyenv, Ity_I64);

	addStmtToIRSB(sb, st);
	addStmtToIRSB(sb, IRStmt_Dirty(unsafeIRDirty_1_N(bits, 2, "cpuid_extra", VG_(fnptr_to_fnentry)(cpuid_extra), mkIRExprVec_2(leaf, sub))));
	addStmtToIRSB(sb, IRStmt_Put(rbx, bind(sb, Ity_I64, IRExpr_Binop(Iop_Or64, bind(sb, Ity_I64, IRExpr_Get(rbx, Ity_I64)),
									IRExpr_RdTmp(bits)))));
}

/* clflush throws translations of a line of data away, which is of no use. */
static Bool ends_in_clflush(IRSB *in)
{
	UChar code[16] = { 0 };

	for (Int i = in->stmts_used; i-- > 0;) {
		IRStmt *st = in->stmts[i];

		if (st->tag != Ist_IMark)
			continue;
		VG_(memcpy)(code, (const void *)st->Ist.IMark.addr, st->Ist.IMark.len <= 15 ? st->Ist.IMark.len : 15);
		return insn_decode(code).what == INSN_CLFLUSH;
	}
	return False;
}

IRSB *extra_complete(IRSB *in)
{
	IRSB *sb = deepCopyIRSBExceptStmts(in);

	for (Int i = 0; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		if (st->tag == Ist_Dirty && VG_(strncmp)(st->Ist.Dirty.details->cee->name, "amd64g_dirtyhelper_CPUID", 24) == 0)
			cpuid(sb, st);
		else
			addStmtToIRSB(sb, st);
	}
	if (sb->jumpkind == Ijk_NoDecode)
		undecoded(sb);
	else if (sb->jumpkind == Ijk_InvalICache && ends_in_clflush(in))
		sb->jumpkind = Ijk_Boring;
	return sb;
}

Bool extra_is_call(Addr pc)
{
	return True;
}
