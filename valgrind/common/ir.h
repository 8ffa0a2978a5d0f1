/* Functions with short names that make VEX's IR. */
#ifndef VG_IR_H
#define VG_IR_H

#include "valgrind/common/arch.h"

#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"

static inline IRExpr *ir_u64(ULong n)
{
	return IRExpr_Const(IRConst_U64(n));
}

static inline IRExpr *ir_ptr(const void *p)
{
	return ir_u64((ULong)(Addr)p);
}

static inline IRExpr *ir_assign(IRSB *sb, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(sb->tyenv, type);

	addStmtToIRSB(sb, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static inline IRExpr *ir_unop(IRSB *sb, IRType type, IROp op, IRExpr *a)
{
	return ir_assign(sb, type, IRExpr_Unop(op, a));
}

static inline IRExpr *ir_binop(IRSB *sb, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
	return ir_assign(sb, type, IRExpr_Binop(op, a, b));
}

static inline IRExpr *ir_add(IRSB *sb, IRExpr *a, IRExpr *b)
{
	return ir_binop(sb, Ity_I64, Iop_Add64, a, b);
}

static inline IRExpr *ir_load(IRSB *sb, IRType type, IRExpr *from)
{
	return ir_assign(sb, type, IRExpr_Load(Iend_LE, type, from));
}

static inline void ir_store(IRSB *sb, IRExpr *to, IRExpr *e)
{
	addStmtToIRSB(sb, IRStmt_Store(Iend_LE, to, e));
}

static inline IRExpr *ir_register(IRSB *sb, Int offset) /* of 64 bits */
{
	return ir_assign(sb, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

static inline IRExpr *ir_bit64(IRSB *sb, IRExpr *bit) /* as a 64-bit word */
{
	return ir_unop(sb, Ity_I64, Iop_1Uto64, bit);
}

static inline IRExpr *ir_is_not_0(IRSB *sb, IRExpr *word)
{
	return ir_binop(sb, Ity_I1, Iop_CmpNE64, word, ir_u64(0));
}

/* Adds a call. guard: a condition for the call, or NULL. The last argument may be the pointer to
 * the guest state. */
static inline void ir_call(IRSB *sb, IRExpr *guard, const HChar *name, void *f, IRExpr **args)
{
	Bool has_registers;
	Int nargs = 0;
	IRDirty *d;

	while (args[nargs] != NULL)
		nargs++;
	has_registers = nargs > 0 && args[nargs - 1]->tag == Iex_GSPTR;
	if (has_registers)
		arch_pass_registers(args, nargs, &f);
	d = unsafeIRDirty_0_N(nargs > 3 ? 0 : nargs, name, VG_(fnptr_to_fnentry)(f), args);
	if (guard != NULL)
		d->guard = guard;
	if (has_registers) { /* so that the stack pointer in it is up to date */
		d->nFxState = 1;
		d->fxState[0].fx = Ifx_Read;
		d->fxState[0].offset = arch_sp_offset;
		d->fxState[0].size = 8;
		d->fxState[0].nRepeats = d->fxState[0].repeatLen = 0;
	}
	addStmtToIRSB(sb, IRStmt_Dirty(d));
}

#endif
