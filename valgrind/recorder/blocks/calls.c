/* What is added where the program calls and returns: the upkeep of the call stack (see stack.c), and calls of libpmemobj. */
#include "valgrind/recorder/blocks/calls.h"

#include "valgrind/recorder/blocks/events.h"
#include "valgrind/common/ir.h"

#include "pub_tool_debuginfo.h"

/* ---- calls of libpmemobj ---- */

/* A block that begins with one of the functions that log a range. PMDK's own event comes only for bytes not yet logged. */
void calls_add_tx_add(IRSB *sb, Addr pc)
{
	static const struct {
		const HChar *name;
		Bool has_oid; /* PMEMoid, offset, bytes; else address, bytes */
	} functions[] = {
		{ "add_range", True },
		{ "xadd_range", True },
		{ "add_range_direct", False },
		{ "xadd_range_direct", False },
	};
	const HChar *name;
	UInt i = 0;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name) || VG_(strncmp)(name, "pmemobj_tx_", 11) != 0)
		return;
	while (VG_(strcmp)(name + 11, functions[i].name) != 0)
		if (++i == sizeof functions / sizeof *functions)
			return;
	if (functions[i].has_oid)
		call(sb, NULL, "event_tx_add_oid", event_tx_add_oid,
		     mkIRExprVec_4(mkptr(code_get(pc, PMT_TX_ADD_CALL, 0)), REGISTER(sb, RDI),
				   binop(sb, Ity_I64, Iop_Add64, REGISTER(sb, RSI), REGISTER(sb, RDX)), REGISTER(sb, RCX)));
	else
		call(sb, NULL, "event_tx_add", event_tx_add,
		     mkIRExprVec_3(mkptr(code_get(pc, PMT_TX_ADD_CALL, 0)), REGISTER(sb, RDI), REGISTER(sb, RSI)));
}

/* ---- the call stack ---- */

/* Pushes {sp, ret, unresolved}. The slow case takes it back: it is rare, and to choose would cost more. */
void calls_add_call(IRSB *sb, Addr ret)
{
	IRExpr *top = load64(sb, mkptr(&g_top)), *next = binop(sb, Ity_I64, Iop_Add64, top, mk64(sizeof(struct frame)));
	IRExpr *sp = REGISTER(sb, RSP), *depth, *near;

	store64(sb, next, sp);
	store64(sb, binop(sb, Ity_I64, Iop_Add64, next, mk64(offsetof(struct frame, ret))), mk64(ret));
	/* NO_NODE, and no signal */
	store64(sb, binop(sb, Ity_I64, Iop_Add64, next, mk64(offsetof(struct frame, node))), mk64(~0ULL));
	store64(sb, mkptr(&g_top), next);
	/* depth - 1 < FAR, as unsigned; beyond the last frame all bits are set */
	depth = binop(sb, Ity_I64, Iop_Sub64, load64(sb, top), sp);
	depth = binop(sb, Ity_I64, Iop_Sub64, depth, mk64(1));
	depth = binop(sb, Ity_I64, Iop_Or64, depth,
		      load64(sb, binop(sb, Ity_I64, Iop_Add64, next, mk64(offsetof(struct frame, beyond)))));
	near = binop(sb, Ity_I1, Iop_CmpLT64U, depth, mk64(FRAME_FAR_BYTES));
	call(sb, assign(sb, Ity_I1, IRExpr_Unop(Iop_Not1, near)), "stack_call_slow", stack_call_slow, mkIRExprVec_0());
}

void calls_add_return(IRSB *sb)
{
	IRExpr *top = load64(sb, mkptr(&g_top));
	IRExpr *sp = REGISTER(sb, RSP);

	store64(sb, mkptr(&g_top), binop(sb, Ity_I64, Iop_Sub64, top, mk64(sizeof(struct frame))));
	call(sb, binop(sb, Ity_I1, Iop_CmpNE64, load64(sb, top), binop(sb, Ity_I64, Iop_Sub64, sp, mk64(8))), "stack_return_slow",
	     stack_return_slow, mkIRExprVec_1(sp));
}
