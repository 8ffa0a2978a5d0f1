/* Adds clwb and clflushopt to the answer of CPUID. Valgrind hides both, so libraries would flush
 * with clflush, which needs no fence, and bugs of their normal code would stay hidden. */
#include "valgrind/common/ir.h"

#include "pub_tool_libcbase.h"
#include "libvex_guest_amd64.h"

static VG_REGPARM(2) ULong cpuid_extra(ULong leaf, ULong subleaf)
{
	/* clflushopt, clwb */
	return (UInt)leaf == 7 && (UInt)subleaf == 0 ? 1u << 23 | 1u << 24 : 0;
}

Bool arch_add_stmt(IRSB *sb, IRStmt *st)
{
	static const HChar helper[] = "amd64g_dirtyhelper_CPUID";
	const Int rbx = offsetof(VexGuestAMD64State, guest_RBX);
	IRExpr *leaf, *sub;
	IRTemp bits;

	if (st->tag != Ist_Dirty ||
	    VG_(strncmp)(st->Ist.Dirty.details->cee->name, helper, sizeof helper - 1) != 0)
		return False;
	leaf = ir_register(sb, offsetof(VexGuestAMD64State, guest_RAX));
	sub = ir_register(sb, offsetof(VexGuestAMD64State, guest_RCX));
	bits = newIRTemp(sb->tyenv, Ity_I64);
	addStmtToIRSB(sb, st);
	addStmtToIRSB(sb, IRStmt_Dirty(unsafeIRDirty_1_N(bits, 2, "cpuid_extra",
							 VG_(fnptr_to_fnentry)(cpuid_extra),
							 mkIRExprVec_2(leaf, sub))));
	addStmtToIRSB(sb, IRStmt_Put(rbx, ir_binop(sb, Ity_I64, Iop_Or64, ir_register(sb, rbx),
						   IRExpr_RdTmp(bits))));
	return True;
}
