/* Makes the guards of calls (guard.h): code that looks up the address in g_granules. One lookup
 * also serves addresses that differ from the first by a small constant. */
#include "valgrind/recorder/blocks/guard.h"

void guards_init(struct guards *g, const IRSB *in)
{
	g->nlooks = 0;
	g->nderived = in->tyenv->types_used;
	g->derived = LibVEX_Alloc(g->nderived * sizeof *g->derived);
	for (Int i = 0; i < g->nderived; i++)
		g->derived[i] = (struct derived){ i, 0 };
}

IRExpr *guard_granule(IRSB *sb, IRExpr *addr)
{
	IRExpr *e = ir_binop(sb, Ity_I64, Iop_Shr64, addr, IRExpr_Const(IRConst_U8(GRANULE_SHIFT)));

	e = ir_binop(sb, Ity_I64, Iop_And64, e, ir_u64(GRANULES - 1));
	e = ir_add(sb, e, ir_ptr(g_granules));
	e = ir_assign(sb, Ity_I8, IRExpr_Load(Iend_LE, Ity_I8, e));
	return ir_assign(sb, Ity_I64, IRExpr_Unop(Iop_8Uto64, e));
}

static struct derived derive(const struct guards *g, const IRExpr *e)
{
	if (e->tag != Iex_RdTmp || (Int)e->Iex.RdTmp.tmp >= g->nderived)
		return (struct derived){ IRTemp_INVALID, 0 };
	return g->derived[e->Iex.RdTmp.tmp];
}

void guards_note(struct guards *g, IRTemp tmp, const IRExpr *e)
{
	struct derived from;
	ULong by;

	if (e->tag != Iex_Binop || (e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64) ||
	    e->Iex.Binop.arg2->tag != Iex_Const)
		return;
	from = derive(g, e->Iex.Binop.arg1);
	by = e->Iex.Binop.arg2->Iex.Const.con->Ico.U64;
	if (from.root != IRTemp_INVALID)
		g->derived[tmp] =
			(struct derived){ from.root,
					  from.offset + (e->Iex.Binop.op == Iop_Add64 ? by : -by) };
}

/* Gives guard_granule() of the address, or an earlier lookup of an address close to it. */
static IRExpr *granule_near(struct guards *g, IRSB *sb, IRExpr *addr)
{
	struct derived d = derive(g, addr);
	IRExpr *e;

	for (UInt i = 0; d.root != IRTemp_INVALID && i < g->nlooks; i++) {
		const struct look *l = &g->looks[i];

		if (l->at.root == d.root &&
		    d.offset - l->at.offset + GRANULE_REACH_BYTES < 2 * GRANULE_REACH_BYTES)
			return l->granule;
	}
	e = guard_granule(sb, addr);
	if (d.root != IRTemp_INVALID && g->nlooks < MAX_LOOKS)
		g->looks[g->nlooks++] = (struct look){ d, e };
	return e;
}

IRExpr *guard_pm(struct guards *g, IRSB *sb, IRExpr *addr, IRExpr *condition)
{
	IRExpr *e = granule_near(g, sb, addr);

	if (condition != NULL)
		e = ir_binop(sb, Ity_I64, Iop_And64, e, ir_bit64(sb, condition));
	return ir_binop(sb, Ity_I1, Iop_CmpNE64, e, ir_u64(0));
}
