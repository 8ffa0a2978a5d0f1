/* Completes blocks of code where stock VEX falls short. A block that ends before an instruction
 * that VEX cannot decode gets that instruction, and goes on behind it. */
#include "valgrind/common/complete.h"

#include "valgrind/common/arch.h"

Bool complete_stmt(IRSB *sb, IRStmt *st)
{
	return arch_add_stmt(sb, st);
}

static Bool undecoded_add(IRSB *sb, struct added_insn *added)
{
	if (sb->next->tag != Iex_Const)
		return False;
	*added = (struct added_insn){ .insn = insn_next(sb->next->Iex.Const.con->Ico.U64) };
	if (!arch_add_insn(sb, added))
		return False;
	sb->next = IRExpr_Const(IRConst_U64(added->insn.pc + added->insn.len_bytes));
	sb->jumpkind = Ijk_Boring;
	return True;
}

Bool complete_end(IRSB *sb, const IRSB *in, struct added_insn *added)
{
	if (sb->jumpkind == Ijk_NoDecode)
		return undecoded_add(sb, added);
	/* a flush; throwing the translations of a line of data away is of no use, nor is flushing
	 * caches */
	if (sb->jumpkind == Ijk_FlushDCache ||
	    (sb->jumpkind == Ijk_InvalICache && insn_last(in).what == INSN_FLUSH))
		sb->jumpkind = Ijk_Boring;
	return False;
}
