/* Completes blocks of code that VEX cannot handle alone. If a block ends before an instruction that
 * VEX cannot decode, the instruction is added, and the program continues after it. */
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
	/* a flush of data: neither discarding translations nor flushing caches would help */
	if (sb->jumpkind == Ijk_FlushDCache ||
	    (sb->jumpkind == Ijk_InvalICache && insn_last(in).what == INSN_FLUSH))
		sb->jumpkind = Ijk_Boring;
	return False;
}
