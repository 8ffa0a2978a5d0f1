/* Adds the steps of each statement of a block. Values that the shadow cannot compute (leaves: what
 * registers and memory contain) are noted in g_noted by code added here, which also collects
 * whether something symbolic was touched. */
#include "valgrind/tracer/blocks/steps.h"

#include "valgrind/common/ir.h"
#include "valgrind/tracer/shadow/shadow.h"
#include "valgrind/tracer/value/memory.h"
#include "valgrind/tracer/value/ops.h"
#include "valgrind/tracer/value/options.h"

/* ---- code added to the block ---- */

static void note_value(struct block *b, IRTemp tmp)
{
	IRType type = typeOfIRTemp(b->sb->tyenv, tmp);
	IRExpr *value = IRExpr_RdTmp(tmp);

	if (type == Ity_I128) { /* cannot be stored */
		ir_store(b->sb, ir_ptr(&g_noted[tmp][0]),
			 ir_unop(b->sb, Ity_I64, Iop_128to64, value));
		ir_store(b->sb, ir_ptr(&g_noted[tmp][1]),
			 ir_unop(b->sb, Ity_I64, Iop_128HIto64, value));
		return;
	}
	if (type == Ity_I1)
		value = ir_unop(b->sb, Ity_I64, Iop_1Uto64, value);
	ir_store(b->sb, ir_ptr(&g_noted[tmp][0]), value);
}

/* Adds code that looks whether memory at this address may be symbolic. Neighbouring addresses
 * usually share a line, but not always, so each is looked up. */
static void mark_touched(struct block *b, IRExpr *addr)
{
	IRSB *sb = b->sb;
	IRExpr *line = ir_binop(sb, Ity_I64, Iop_Shr64, addr, IRExpr_Const(IRConst_U8(LINE_SHIFT)));
	IRExpr *slot = ir_add(sb, ir_binop(sb, Ity_I64, Iop_And64, line, ir_u64(LINES - 1)),
			      ir_ptr(g_lines));
	IRExpr *mark = ir_unop(sb, Ity_I64, Iop_8Uto64, ir_load(sb, Ity_I8, slot));

	b->touched = ir_binop(sb, Ity_I64, Iop_Or64, b->touched, mark);
}

void steps_end(struct block *b)
{
	struct segment *s = block_segment(b);

	if (s)
		ir_call(b->sb, ir_is_not_0(b->sb, b->touched), "shadow_run", shadow_run,
			mkIRExprVec_1(ir_ptr(s)));
}

/* ---- statements ---- */

static void leaf(struct block *b, IRTemp tmp, IROp op, const HChar *name)
{
	struct step *s = block_step(b, STEP_LEAF);

	s->tmp = tmp;
	s->op = op;
	s->name = name;
	s->bits = bits_of(typeOfIRTemp(b->sb->tyenv, tmp));
	note_value(b, tmp);
}

static void add_args(struct block *b, IRExpr **args, UInt n)
{
	for (UInt i = 0; i < n; i++)
		block_arg(b, args[i]);
}

static void operation(struct block *b, IRTemp tmp, IROp op, UInt n, IRExpr **args)
{
	if (n > 2 || !op_is_known(op)) {
		leaf(b, tmp, op, NULL);
	} else {
		struct step *s = block_step(b, STEP_OP);

		s->tmp = tmp;
		s->op = op;
		s->bits = bits_of(typeOfIRTemp(b->sb->tyenv, tmp));
		if (op_is_partial(op) && !clo_check)
			note_value(b, tmp);
	}
	add_args(b, args, n);
}

static void call_flags(struct block *b, IRTemp tmp, IRExpr *e)
{
	UInt n = 0;

	while (e->Iex.CCall.args[n] != NULL)
		n++;
	leaf(b, tmp, Iop_INVALID, e->Iex.CCall.cee->name);
	if (n <= STEP_ARGS && flags_is_known(e->Iex.CCall.cee->name))
		b->last->kind = STEP_CALL;
	add_args(b, e->Iex.CCall.args, n <= STEP_ARGS ? n : STEP_ARGS);
}

static void load(struct block *b, IRTemp tmp, IRExpr *addr)
{
	leaf(b, tmp, Iop_INVALID, NULL);
	b->last->kind = STEP_LOAD;
	block_arg(b, addr);
	mark_touched(b, addr);
}

static void wr_tmp(struct block *b, IRTemp tmp, IRExpr *e)
{
	UShort bits = bits_of(typeOfIRTemp(b->sb->tyenv, tmp));

	switch (e->tag) {
	case Iex_Get:
		leaf(b, tmp, Iop_INVALID, NULL);
		b->last->kind = STEP_GET;
		b->last->offset = e->Iex.Get.offset;
		break;
	case Iex_RdTmp:
	case Iex_Const:
		block_step(b, STEP_MOVE);
		b->last->tmp = tmp;
		b->last->bits = bits;
		block_arg(b, e);
		break;
	case Iex_Unop: operation(b, tmp, e->Iex.Unop.op, 1, (IRExpr *[]){ e->Iex.Unop.arg }); break;
	case Iex_Binop:
		operation(b, tmp, e->Iex.Binop.op, 2,
			  (IRExpr *[]){ e->Iex.Binop.arg1, e->Iex.Binop.arg2 });
		break;
	case Iex_Triop: {
		IRTriop *t = e->Iex.Triop.details;

		operation(b, tmp, t->op, 3, (IRExpr *[]){ t->arg1, t->arg2, t->arg3 });
		break;
	}
	case Iex_Qop: {
		IRQop *q = e->Iex.Qop.details;

		operation(b, tmp, q->op, 4, (IRExpr *[]){ q->arg1, q->arg2, q->arg3, q->arg4 });
		break;
	}
	case Iex_ITE:
		block_step(b, STEP_ITE);
		b->last->tmp = tmp;
		b->last->bits = bits;
		add_args(b, (IRExpr *[]){ e->Iex.ITE.cond, e->Iex.ITE.iftrue, e->Iex.ITE.iffalse },
			 3);
		break;
	case Iex_CCall: call_flags(b, tmp, e); break;
	case Iex_Load: load(b, tmp, e->Iex.Load.addr); break;
	default: leaf(b, tmp, Iop_INVALID, "an indexed register"); break; /* x87 */
	}
	if (clo_check && b->last->kind != STEP_LOAD && b->last->kind != STEP_LEAF &&
	    b->last->kind != STEP_GET && b->last->kind != STEP_CALL)
		note_value(b, tmp);
}

static void store(struct block *b, IRExpr *addr, IRExpr *data, IRExpr *guard)
{
	block_step(b, STEP_STORE);
	b->last->bits = bits_of(typeOfIRExpr(b->sb->tyenv, data));
	add_args(b, (IRExpr *[]){ addr, data, guard ? guard : IRExpr_Const(IRConst_U1(True)) }, 3);
	mark_touched(b, addr);
}

static void clear(struct block *b, IRExpr *addr, ULong nbytes)
{
	block_step(b, STEP_CLEAR);
	b->last->k = nbytes;
	block_arg(b, addr);
	mark_touched(b, addr);
}

static void clear_reg(struct block *b, UInt offset, UInt nbytes)
{
	block_step(b, STEP_CLEAR_REG);
	b->last->offset = offset;
	b->last->k = nbytes;
}

static void load_if(struct block *b, IRLoadG *l)
{
	IRType wide, loaded;

	typeOfIRLoadGOp(l->cvt, &wide, &loaded);
	leaf(b, l->dst, Iop_INVALID, NULL);
	b->last->kind = STEP_LOAD_IF;
	b->last->from = bits_of(loaded);
	b->last->k = l->cvt == ILGop_16Sto32 || l->cvt == ILGop_8Sto32;
	add_args(b, (IRExpr *[]){ l->addr, l->guard, l->alt }, 3);
	mark_touched(b, l->addr);
}

static void compare_and_swap(struct block *b, IRCAS *c)
{
	if (c->dataHi != NULL) {
		leaf(b, c->oldHi, Iop_INVALID, "a compare-and-swap of two words");
		leaf(b, c->oldLo, Iop_INVALID, "a compare-and-swap of two words");
		clear(b, c->addr, 2 * sizeofIRType(typeOfIRExpr(b->sb->tyenv, c->dataLo)));
		return;
	}
	load(b, c->oldLo, c->addr);
	block_step(b, STEP_CAS);
	b->last->tmp = c->oldLo;
	b->last->bits = bits_of(typeOfIRExpr(b->sb->tyenv, c->dataLo));
	add_args(b, (IRExpr *[]){ c->addr, c->dataLo, c->expdLo }, 3);
}

static void dirty(struct block *b, IRDirty *d)
{
	if (d->tmp != IRTemp_INVALID)
		leaf(b, d->tmp, Iop_INVALID, d->cee->name);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		clear(b, d->mAddr, d->mSize);
	for (Int i = 0; i < d->nFxState; i++)
		if (d->fxState[i].fx != Ifx_Read)
			for (Int r = 0; r <= d->fxState[i].nRepeats; r++)
				clear_reg(b, d->fxState[i].offset + r * d->fxState[i].repeatLen,
					  d->fxState[i].size);
}

static void exit_stmt(struct block *b, IRStmt *st, Bool is_last)
{
	block_step(b, STEP_EXIT);
	b->last->k = st->Ist.Exit.dst->Ico.U64;
	b->last->other = is_last && b->in->next->tag == Iex_Const
				 ? b->in->next->Iex.Const.con->Ico.U64
				 : b->pc + b->len_bytes;
	block_arg(b, st->Ist.Exit.guard);
	steps_end(b);
}

void steps_add(struct block *b, IRStmt *st, Bool is_last)
{
	if (st->tag == Ist_Exit)
		exit_stmt(b, st, is_last); /* must run before the exit is taken */
	addStmtToIRSB(b->sb, st);
	switch (st->tag) {
	case Ist_IMark:
		b->pc = st->Ist.IMark.addr;
		b->len_bytes = st->Ist.IMark.len;
		block_step(b, STEP_INSN);
		b->last->k = b->pc;
		break;
	case Ist_WrTmp: wr_tmp(b, st->Ist.WrTmp.tmp, st->Ist.WrTmp.data); break;
	case Ist_Put:
		block_step(b, STEP_PUT);
		b->last->offset = st->Ist.Put.offset;
		b->last->bits = bits_of(typeOfIRExpr(b->sb->tyenv, st->Ist.Put.data));
		block_arg(b, st->Ist.Put.data);
		break;
	case Ist_PutI: {
		IRRegArray *r = st->Ist.PutI.details->descr;

		clear_reg(b, r->base, r->nElems * sizeofIRType(r->elemTy));
		break;
	}
	case Ist_Store: store(b, st->Ist.Store.addr, st->Ist.Store.data, NULL); break;
	case Ist_StoreG: {
		IRStoreG *s = st->Ist.StoreG.details;

		store(b, s->addr, s->data, s->guard);
		break;
	}
	case Ist_LoadG: load_if(b, st->Ist.LoadG.details); break;
	case Ist_CAS: compare_and_swap(b, st->Ist.CAS.details); break;
	case Ist_LLSC:
		if (st->Ist.LLSC.storedata == NULL) {
			load(b, st->Ist.LLSC.result, st->Ist.LLSC.addr);
		} else {
			store(b, st->Ist.LLSC.addr, st->Ist.LLSC.storedata, NULL);
			leaf(b, st->Ist.LLSC.result, Iop_INVALID, NULL);
		}
		break;
	case Ist_Dirty: dirty(b, st->Ist.Dirty.details); break;
	case Ist_NoOp:
	case Ist_AbiHint:
	case Ist_MBE:
	case Ist_Exit: break;
	}
}
