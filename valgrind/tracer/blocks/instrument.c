/* Adds to each block of guest code what its shadow needs: as little as possible, because most
 * blocks never meet symbolic data. Values that the shadow cannot compute (leaves: what registers
 * and memory contain) are noted in g_noted. One temporary collects whether something symbolic was
 * touched. At each exit of the block, one call, guarded by that temporary, runs the steps of the
 * shadow up to there. A block has only one path through it, so steps that were skipped because
 * nothing was symbolic yet can be run later. */
#include "valgrind/tracer/blocks/instrument.h"

#include "valgrind/common/complete.h"
#include "valgrind/common/ir.h"
#include "valgrind/tracer/blocks/steps.h"
#include "valgrind/tracer/path/path.h"
#include "valgrind/tracer/shadow/shadow.h"
#include "valgrind/tracer/value/registers.h"

/* Gives a bit for each register that the block reads or writes. If such a register is symbolic, the
 * shadow must run: the value is read, or must be forgotten. */
static ULong registers(IRSB *in)
{
	ULong bits = 0;

	for (Int i = 0; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];
		UInt offset, nbytes;

		if (st->tag == Ist_Dirty || st->tag == Ist_PutI)
			return ~0ULL;
		if (st->tag == Ist_Put) {
			offset = st->Ist.Put.offset;
			nbytes = sizeofIRType(typeOfIRExpr(in->tyenv, st->Ist.Put.data));
		} else if (st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Get) {
			offset = st->Ist.WrTmp.data->Iex.Get.offset;
			nbytes = sizeofIRType(st->Ist.WrTmp.data->Iex.Get.ty);
		} else {
			continue;
		}
		for (UInt o = offset & ~7u; o < offset + nbytes; o += 8)
			bits |= reg_bit(o);
	}
	return bits;
}

static Bool has_exits(IRSB *in)
{
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i]->tag == Ist_Exit)
			return True;
	return False;
}

/* Adds code that reports where an indirect jump or call leads, if that differs from the last
 * time. */
static void learn_jump(struct block *b, IRExpr *next)
{
	struct jump *j = VG_(calloc)("sym.jump", 1, sizeof *j);
	IRExpr *last = ir_load(b->sb, Ity_I64, ir_ptr(&j->last));

	j->pc = b->pc;
	ir_call(b->sb, ir_binop(b->sb, Ity_I1, Iop_CmpNE64, last, next), "shadow_jump", shadow_jump,
		mkIRExprVec_2(ir_ptr(j), next));
}

/* Copies the block, and adds what VEX leaves out. */
static IRSB *completed(IRSB *in)
{
	IRSB *sb = deepCopyIRSBExceptStmts(in);
	struct added_insn added;

	for (Int i = 0; i < in->stmts_used; i++)
		if (!complete_stmt(sb, in->stmts[i]))
			addStmtToIRSB(sb, in->stmts[i]);
	complete_end(sb, in, &added);
	return sb;
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word)
{
	struct block b = { 0 };
	Int last;

	in = completed(in);
	if (in->tyenv->types_used >= TMPS)
		return in;
	b.in = in;
	b.sb = deepCopyIRSBExceptStmts(in);
	last = in->stmts_used;
	for (UInt i = 0; i < extents->n_used; i++)
		path_cover(extents->base[i], extents->len[i]);
	b.touched = ir_binop(b.sb, Ity_I64, Iop_And64,
			     ir_load(b.sb, Ity_I64, ir_ptr(&g_dirty_regs)), ir_u64(registers(in)));
	if (has_exits(in))
		ir_store(b.sb, ir_ptr(&g_progress), ir_u64(0));
	block_begin(&b);
	while (last > 0 && in->stmts[last - 1]->tag == Ist_NoOp)
		last--;
	for (Int i = 0; i < last; i++)
		if (in->stmts[i] != NULL)
			steps_add(&b, in->stmts[i], i == last - 1);
	if (in->next->tag == Iex_RdTmp) {
		block_step(&b, STEP_NEXT);
		block_arg(&b, in->next);
		if (in->jumpkind == Ijk_Call || in->jumpkind == Ijk_Boring)
			learn_jump(&b, in->next);
	}
	steps_end(&b);
	if (in->jumpkind == Ijk_Call && arch_is_call(b.pc))
		ir_call(b.sb, NULL, "path_call", path_call,
			mkIRExprVec_2(ir_u64(b.pc + b.len_bytes),
				      ir_register(b.sb, arch_sp_offset)));
	return b.sb;
}
