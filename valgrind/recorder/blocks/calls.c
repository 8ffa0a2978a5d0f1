/* Adds code where the program calls and returns: it keeps the call stack, inlined for ordinary
 * cases, and makes events for the functions of libpmemobj that log a range. sync.c adds the code
 * for functions that synchronise threads. */
#include "valgrind/recorder/blocks/calls.h"

#include "valgrind/common/ir.h"
#include "valgrind/recorder/blocks/events.h"
#include "valgrind/recorder/blocks/sync.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/place/stack.h"

#include "pub_tool_debuginfo.h"

/* ---- calls of libpmemobj ---- */

static IRExpr *argument(IRSB *sb, UInt n)
{
	return ir_register(sb, arch_argument_offset(n));
}

/* Adds a call at the beginning of a libpmemobj function that logs a range. PMDK's own event comes
 * only for bytes that are not logged yet. */
static void add_tx_add(IRSB *sb, Addr pc, const HChar *name)
{
	static const struct {
		const HChar *name;
		/* arguments are a PMEMoid, offset and bytes; otherwise address and bytes */
		Bool has_oid;
	} functions[] = {
		{ "add_range", True },
		{ "xadd_range", True },
		{ "add_range_direct", False },
		{ "xadd_range_direct", False },
	};
	IRExpr *code;
	UInt i = 0;

	if (VG_(strncmp)(name, "pmemobj_tx_", 11) != 0)
		return;
	while (VG_(strcmp)(name + 11, functions[i].name) != 0)
		if (++i == sizeof functions / sizeof *functions)
			return;
	code = ir_ptr(code_get(pc, PMT_TX_ADD_CALL, 0));
	if (functions[i].has_oid)
		ir_call(sb, NULL, "event_tx_add_oid", event_tx_add_oid,
			mkIRExprVec_4(code, argument(sb, 0),
				      ir_add(sb, argument(sb, 1), argument(sb, 2)),
				      argument(sb, 3)));
	else
		ir_call(sb, NULL, "event_tx_add", event_tx_add,
			mkIRExprVec_3(code, argument(sb, 0), argument(sb, 1)));
}

void calls_add_entry(IRSB *sb, Addr pc)
{
	const HChar *name;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name))
		return;
	add_tx_add(sb, pc, name);
	if (clo_threads)
		sync_add_entry(sb, pc, name);
}

/* ---- the call stack ---- */

/* Makes a condition: sp is below the frame by less than FRAME_FAR_BYTES (slot - sp - 1 < FAR,
 * unsigned). more: bits that make it false. */
static IRExpr *is_near_below(IRSB *sb, IRExpr *frame, IRExpr *sp, IRExpr *more)
{
	IRExpr *depth = ir_binop(sb, Ity_I64, Iop_Sub64, ir_load(sb, Ity_I64, frame), sp);

	depth = ir_binop(sb, Ity_I64, Iop_Sub64, depth, ir_u64(1));
	if (more != NULL)
		depth = ir_binop(sb, Ity_I64, Iop_Or64, depth, more);
	return ir_binop(sb, Ity_I1, Iop_CmpLT64U, depth, ir_u64(FRAME_FAR_BYTES));
}

/* Adds code that pushes a frame {sp, ret, unresolved}. If the call turns out to be a slow case,
 * that removes the frame again: slow cases are rare, and deciding first would cost more. */
void calls_add_call(IRSB *sb, Addr ret)
{
	IRExpr *top = ir_load(sb, Ity_I64, ir_ptr(&g_top)),
	       *next = ir_add(sb, top, ir_u64(sizeof(struct frame)));
	IRExpr *sp = ir_register(sb, arch_sp_offset), *beyond, *near;

	ir_store(sb, next, sp);
	ir_store(sb, ir_add(sb, next, ir_u64(offsetof(struct frame, ret))), ir_u64(ret));
	/* NO_NODE, and not a signal */
	ir_store(sb, ir_add(sb, next, ir_u64(offsetof(struct frame, node))), ir_u64(~0ULL));
	ir_store(sb, ir_ptr(&g_top), next);
	/* all bits are set behind the last frame */
	beyond = ir_load(sb, Ity_I64, ir_add(sb, next, ir_u64(offsetof(struct frame, beyond))));
	near = is_near_below(sb, top, sp, beyond);
	ir_call(sb, ir_assign(sb, Ity_I1, IRExpr_Unop(Iop_Not1, near)), "stack_call_slow",
		stack_call_slow, mkIRExprVec_0());
}

void calls_add_return(IRSB *sb)
{
	IRExpr *top = ir_load(sb, Ity_I64, ir_ptr(&g_top));
	IRExpr *sp = ir_register(sb, arch_sp_offset);

	if (clo_threads)
		sync_add_return(sb, top);
	ir_store(sb, ir_ptr(&g_top),
		 ir_binop(sb, Ity_I64, Iop_Sub64, top, ir_u64(sizeof(struct frame))));
	ir_call(sb,
		ir_binop(sb, Ity_I1, Iop_CmpNE64, ir_load(sb, Ity_I64, top),
			 ir_binop(sb, Ity_I64, Iop_Sub64, sp, ir_u64(arch_return_bytes))),
		"stack_return_slow", stack_return_slow, mkIRExprVec_1(sp));
}

void calls_add_set(IRSB *sb, IRExpr *sp)
{
	IRExpr *near = is_near_below(sb, ir_load(sb, Ity_I64, ir_ptr(&g_top)), sp, NULL);

	ir_call(sb, ir_assign(sb, Ity_I1, IRExpr_Unop(Iop_Not1, near)), "stack_set", stack_set,
		mkIRExprVec_1(sp));
}
