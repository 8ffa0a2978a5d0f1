/* Short names for the pieces of IR that instrumentation adds. */
#ifndef REC_IR_H
#define REC_IR_H

#include "valgrind/recorder/rec.h"

#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"
#include "libvex_guest_amd64.h"

static inline IRExpr *mk64(ULong n)
{
	return IRExpr_Const(IRConst_U64(n));
}

static inline IRExpr *mkptr(const void *p)
{
	return mk64((ULong)(Addr)p);
}

static inline IRExpr *assign(IRSB *sb, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(sb->tyenv, type);

	addStmtToIRSB(sb, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static inline IRExpr *binop(IRSB *sb, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
	return assign(sb, type, IRExpr_Binop(op, a, b));
}

static inline IRExpr *load64(IRSB *sb, IRExpr *from)
{
	return assign(sb, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, from));
}

static inline void store64(IRSB *sb, IRExpr *to, IRExpr *e)
{
	addStmtToIRSB(sb, IRStmt_Store(Iend_LE, to, e));
}

static inline void call(IRSB *sb, IRExpr *guard, const HChar *name, void *f, IRExpr **args)
{
	Int nargs = 0;
	IRDirty *d;

	while (args[nargs] != NULL)
		nargs++;
	d = unsafeIRDirty_0_N(nargs > 3 ? 0 : nargs, name, VG_(fnptr_to_fnentry)(f), args);
	if (guard != NULL)
		d->guard = guard;
	if (nargs > 0 && args[nargs - 1]->tag == Iex_GSPTR) { /* for the stack pointer in it */
		d->nFxState = 1;
		d->fxState[0].fx = Ifx_Read;
		d->fxState[0].offset = offsetof(VexGuestAMD64State, guest_RSP);
		d->fxState[0].size = 8;
		d->fxState[0].nRepeats = d->fxState[0].repeatLen = 0;
	}
	addStmtToIRSB(sb, IRStmt_Dirty(d));
}

static inline IRExpr *as64(IRSB *sb, IRExpr *bit)
{
	return assign(sb, Ity_I64, IRExpr_Unop(Iop_1Uto64, bit));
}

static inline IRExpr *get_register(IRSB *sb, Int offset)
{
	return assign(sb, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

#define REGISTER(sb, NAME) get_register(sb, offsetof(VexGuestAMD64State, guest_##NAME))

#endif
