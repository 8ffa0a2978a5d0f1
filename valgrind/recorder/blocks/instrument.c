/* Adds code to each block of guest code: a guarded call (guard.h) at every store (and load, if
 * asked), calls at flushes and fences, the upkeep of the call stack (calls.h), and what VEX lacks
 * (complete.h). */
#include "valgrind/recorder/blocks/instrument.h"

#include "valgrind/common/complete.h"
#include "valgrind/recorder/blocks/calls.h"
#include "valgrind/recorder/blocks/events.h"
#include "valgrind/recorder/blocks/guard.h"
#include "valgrind/recorder/blocks/sandbox.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/schedule/points.h"

ULong g_ninstructions;

struct pass {
	IRSB *in, *sb;
	struct guards guards;
	Addr pc; /* of the present instruction */
	UInt len_bytes;
	struct insn insn;
	Int insn_start;        /* index of its first statement in `in` */
	IRExpr *first_of_pair; /* address of the first of two stores that belong together */
	UInt nuncounted;       /* instructions since the counter was last raised */
	Int ip_offset;         /* of the instruction pointer in the guest state */
	Bool has_point;        /* with --schedule: the thread may give up behind this instruction */
};

/* Adds a point at which the thread may give up the processor (--schedule). */
static void add_point(struct pass *p, IRExpr *guard, enum point kind)
{
	if (!clo_schedule)
		return;
	points_add(p->sb, guard, kind);
	p->has_point = True;
}

static void add_access_point(struct pass *p, IRExpr *guard, enum point kind, IRExpr *addr,
			     UInt size)
{
	if (!clo_schedule)
		return;
	points_add_access(p->sb, guard, kind, p->pc, addr, size);
	p->has_point = True;
}

static void add_load(struct pass *p, IRExpr *addr, UInt size, IRExpr *condition)
{
	struct code *c;
	IRExpr *guard;

	if (!clo_loads)
		return;
	c = code_get(p->pc, PMT_LOAD, size);
	guard = guard_pm(&p->guards, p->sb, addr, condition);
	ir_call(p->sb, guard, "event_load", event_load, mkIRExprVec_2(ir_ptr(c), addr));
	add_access_point(p, guard, POINT_LOAD, addr, size);
}

static void *store_helper(enum pmt_kind kind, UInt size)
{
	if (kind == PMT_STORE) {
		switch (size) {
		case 1: return event_store_1;
		case 2: return event_store_2;
		case 4: return event_store_4;
		case 8: return event_store_8;
		default: break;
		}
	}
	return event_store;
}

/* Gives a condition for an access that orders: the address may be PM, or PM exists somewhere,
 * because the access orders wherever it goes. */
static IRExpr *guard_order(IRSB *sb, IRExpr *addr)
{
	IRExpr *nfiles = ir_unop(sb, Ity_I64, Iop_32Uto64,
				 ir_load(sb, Ity_I32, ir_ptr(&g_out.header->nfiles)));

	return ir_is_not_0(sb,
			   addr ? ir_binop(sb, Ity_I64, Iop_Or64, nfiles, guard_granule(sb, addr))
				: nfiles);
}

static void add_store_event(struct pass *p, IRExpr *addr, UInt size, IRExpr *condition)
{
	enum pmt_kind kind = p->insn.event ? p->insn.event : PMT_STORE;
	IRExpr *lo, *hi;
	struct code *c;

	if (p->insn.what == INSN_MASK_MOVE &&
	    arch_find_mask(p->in, p->insn_start, size, &lo, &hi)) {
		c = code_get(p->pc, PMT_STORE_NT, size);
		ir_call(p->sb, guard_pm(&p->guards, p->sb, addr, condition), "event_masked_store",
			event_masked_store, mkIRExprVec_4(ir_ptr(c), addr, lo, hi));
		return;
	}
	c = code_get_arg(p->pc, kind, size, p->insn.arg);
	if (p->insn.what == INSN_STRING) {
		ir_call(p->sb, guard_pm(&p->guards, p->sb, addr, condition), "event_string",
			event_string,
			mkIRExprVec_3(ir_ptr(c), addr, ir_register(p->sb, arch_count_offset)));
		return;
	}
	if (kind == PMT_STORE_ORDERED) {
		ir_call(p->sb, guard_order(p->sb, addr), "event_ordered_store", event_ordered_store,
			mkIRExprVec_2(ir_ptr(c), addr));
		return;
	}
	ir_call(p->sb, guard_pm(&p->guards, p->sb, addr, condition), "event_store",
		store_helper(kind, size), mkIRExprVec_2(ir_ptr(c), addr));
}

static void add_store(struct pass *p, IRExpr *addr, UInt size, IRExpr *condition)
{
	add_store_event(p, addr, size, condition);
	if (clo_schedule)
		add_access_point(p, guard_pm(&p->guards, p->sb, addr, condition), POINT_STORE, addr,
				 size);
}

/* Adds the calls for a store, in pieces that fit into a record. */
static void add_stores(struct pass *p, IRExpr *addr, Int size, IRExpr *condition)
{
	Int done = 0;

	while (done < size) {
		Int n = size - done < (Int)PMT_STORE_MAX_BYTES ? size - done
							       : (Int)PMT_STORE_MAX_BYTES;

		add_store(p, done ? ir_add(p->sb, addr, ir_u64(done)) : addr, n, condition);
		done += n;
	}
}

static void add_plain_store(struct pass *p, IRExpr *addr, UInt size)
{
	if (p->insn.what != INSN_PAIR) {
		add_store(p, addr, size, NULL);
	} else if (p->first_of_pair == NULL) {
		p->first_of_pair = addr;
	} else {
		add_store(p, p->first_of_pair, 2 * size, NULL);
		p->first_of_pair = NULL;
	}
}

static IRExpr *cas_equal(IRSB *sb, IRType type, IRTemp old, IRExpr *expected)
{
	IROp op = type == Ity_I8    ? Iop_CasCmpEQ8
		  : type == Ity_I16 ? Iop_CasCmpEQ16
		  : type == Ity_I32 ? Iop_CasCmpEQ32
				    : Iop_CasCmpEQ64;

	return ir_bit64(sb, ir_binop(sb, Ity_I1, op, IRExpr_RdTmp(old), expected));
}

static void add_before_cas(struct pass *p, IRCAS *cas)
{
	IRSB *sb = p->sb;
	IRExpr *both = ir_binop(sb, Ity_I64, Iop_And64, guard_granule(sb, cas->addr),
				ir_load(sb, Ity_I64, ir_ptr(&g_shared)));

	ir_call(sb, ir_binop(sb, Ity_I1, Iop_CmpNE64, both, ir_u64(0)), "event_before_cas",
		event_before_cas, mkIRExprVec_0());
}

/* Adds the points behind an atomic instruction, wherever it stores: a fence of the thread, and, in
 * PM, a store. */
static void add_cas_point(struct pass *p, IRExpr *addr, UInt size)
{
	if (!clo_schedule)
		return;
	if (!points_is_quiet(p->pc))
		add_point(p, NULL, POINT_LOCKED);
	add_access_point(p, guard_pm(&p->guards, p->sb, addr, NULL), POINT_STORE, addr, size);
}

static void add_cas(struct pass *p, IRCAS *cas)
{
	IRSB *sb = p->sb;
	IRType type = typeOfIRExpr(sb->tyenv, cas->dataLo);
	Bool is_double = cas->dataHi != NULL;
	UInt size = (UInt)sizeofIRType(type) * (is_double ? 2 : 1);
	struct code *c = code_get_arg(p->pc, arch_is_weak ? PMT_STORE_ORDERED : PMT_STORE_RMW, size,
				      p->insn.arg);
	IRExpr *ok = cas_equal(sb, type, cas->oldLo, cas->expdLo), *guard;

	if (is_double)
		ok = ir_binop(sb, Ity_I64, Iop_And64, ok,
			      cas_equal(sb, type, cas->oldHi, cas->expdHi));
	add_load(p, cas->addr, size, NULL);
	if (arch_is_weak) {
		ir_call(sb, guard_order(sb, cas->addr), "event_atomic", event_atomic,
			mkIRExprVec_3(ir_ptr(c), cas->addr, ok));
		add_cas_point(p, cas->addr, size);
		return;
	}
	guard = ir_binop(sb, Ity_I64, Iop_Or64, guard_granule(sb, cas->addr),
			 ir_load(sb, Ity_I64, ir_ptr(&g_pending)));
	ir_call(sb, ir_binop(sb, Ity_I1, Iop_CmpNE64, guard, ir_u64(0)), "event_cas", event_cas,
		mkIRExprVec_3(ir_ptr(c), cas->addr, ok));
	add_cas_point(p, cas->addr, size);
}

static void add_fence(struct pass *p)
{
	if (p->insn.what != INSN_FENCE)
		return;
	ir_call(p->sb, NULL, "event_fence", event_fence,
		mkIRExprVec_2(ir_ptr(code_get_arg(p->pc, p->insn.event, 0, p->insn.arg)),
			      IRExpr_GSPTR()));
	add_point(p, NULL, POINT_FENCE);
}

static void add_flush(struct pass *p)
{
	IRExpr *addr;

	if (clo_schedule)
		points_add_before(p->sb, p->pc, p->ip_offset);
	addr = arch_address(p->sb, &p->insn);
	ir_call(p->sb, NULL, "event_flush", event_flush,
		mkIRExprVec_3(ir_ptr(code_get(p->pc, p->insn.event, PMT_LINE_BYTES)), addr,
			      IRExpr_GSPTR()));
}

static void add_acquire(struct pass *p)
{
	ir_call(p->sb, guard_order(p->sb, NULL), "event_order", event_order,
		mkIRExprVec_1(ir_ptr(code_get_arg(p->pc, p->insn.event, 0, p->insn.arg))));
}

/* Handles a helper function of VEX that writes or reads memory, such as fxsave. */
static void add_dirty(struct pass *p, IRDirty *d)
{
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		add_stores(p, d->mAddr, d->mSize, d->guard);
	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
		add_load(p, d->mAddr, d->mSize, d->guard);
}

/* Handles an instruction that VEX cannot decode and that complete_end() added. */
static void add_added(struct pass *p, const struct added_insn *added)
{
	p->pc = added->insn.pc;
	p->insn = added->insn;
	p->nuncounted++;
	if (p->insn.what == INSN_FLUSH)
		add_flush(p);
	if (added->loaded != NULL)
		add_load(p, added->loaded, p->insn.size_bytes, NULL);
	if (added->stored != NULL)
		add_stores(p, added->stored, p->insn.size_bytes, NULL);
}

/* ---- the pass ---- */

/* Adds the counting of instructions, before anything that may leave the block. */
static void count_instructions(struct pass *p)
{
	IRSB *sb = p->sb;

	if (clo_instructions && p->nuncounted > 0)
		ir_store(sb, ir_ptr(&g_ninstructions),
			 ir_add(sb, ir_load(sb, Ity_I64, ir_ptr(&g_ninstructions)),
				ir_u64(p->nuncounted)));
	p->nuncounted = 0;
}

/* Adds the way out of the block for a thread that gives up, at the end of an instruction with a
 * point. */
static void add_exit(struct pass *p, Addr next)
{
	if (!p->has_point)
		return;
	points_add_exit(p->sb, next, p->ip_offset);
	p->has_point = False;
}

static void begin_insn(struct pass *p, IRStmt *st, Int index)
{
	add_exit(p, st->Ist.IMark.addr);
	addStmtToIRSB(p->sb, st);
	p->pc = st->Ist.IMark.addr;
	p->len_bytes = st->Ist.IMark.len;
	p->insn_start = index;
	p->first_of_pair = NULL;
	/* add_added() counts instructions that VEX cannot decode */
	p->nuncounted += p->len_bytes > 0;
	p->insn = insn_at(p->pc, p->len_bytes);
	if (p->insn.what == INSN_FLUSH)
		add_flush(p);
	else if (p->insn.what == INSN_ACQUIRE)
		add_acquire(p);
}

static void instrument_stmt(struct pass *p, IRStmt *st, Int index)
{
	IRSB *sb = p->sb;

	switch (st->tag) {
	case Ist_NoOp: break;
	case Ist_IMark: begin_insn(p, st, index); break;
	case Ist_WrTmp: {
		IRExpr *e = st->Ist.WrTmp.data;

		addStmtToIRSB(sb, st);
		guards_note(&p->guards, st->Ist.WrTmp.tmp, e);
		if (e->tag == Iex_Load)
			add_load(p, e->Iex.Load.addr, sizeofIRType(e->Iex.Load.ty), NULL);
		break;
	}
	case Ist_LoadG: {
		IRLoadG *l = st->Ist.LoadG.details;
		IRType wide, loaded;

		addStmtToIRSB(sb, st);
		typeOfIRLoadGOp(l->cvt, &wide, &loaded);
		add_load(p, l->addr, sizeofIRType(loaded), l->guard);
		break;
	}
	case Ist_Store:
		addStmtToIRSB(sb, st);
		add_plain_store(p, st->Ist.Store.addr,
				sizeofIRType(typeOfIRExpr(sb->tyenv, st->Ist.Store.data)));
		break;
	case Ist_StoreG: {
		IRStoreG *s = st->Ist.StoreG.details;

		addStmtToIRSB(sb, st);
		add_store(p, s->addr, sizeofIRType(typeOfIRExpr(sb->tyenv, s->data)), s->guard);
		break;
	}
	case Ist_CAS:
		add_before_cas(p, st->Ist.CAS.details);
		addStmtToIRSB(sb, st);
		add_cas(p, st->Ist.CAS.details);
		break;
	case Ist_MBE:
		addStmtToIRSB(sb, st);
		add_fence(p);
		break;
	case Ist_Dirty:
		if (!complete_stmt(sb, st)) {
			addStmtToIRSB(sb, st);
			add_dirty(p, st->Ist.Dirty.details);
		}
		break;
	case Ist_Put:
		addStmtToIRSB(sb, st);
		if (p->insn.what == INSN_SET_STACK && st->Ist.Put.offset == arch_sp_offset)
			calls_add_set(sb, st->Ist.Put.data);
		break;
	case Ist_LLSC: /* does not occur, because of --sim-hints=fallback-llsc */
	case Ist_PutI:
	case Ist_AbiHint: addStmtToIRSB(sb, st); break;
	case Ist_Exit:
		count_instructions(p);
		addStmtToIRSB(sb, st);
		break;
	}
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
		 IRType host_word)
{
	struct pass p = { .in = in,
			  .sb = deepCopyIRSBExceptStmts(in),
			  .ip_offset = layout->offset_IP };
	struct added_insn added;

	guards_init(&p.guards, in);
	calls_add_entry(p.sb, extents->base[0]);
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i] != NULL)
			instrument_stmt(&p, in->stmts[i], i);
	if (p.sb->jumpkind == Ijk_Call && arch_is_call(p.pc))
		calls_add_call(p.sb, p.pc + p.len_bytes);
	else if (p.sb->jumpkind == Ijk_Ret)
		calls_add_return(p.sb);
	else if (p.sb->jumpkind == Ijk_Sys_syscall)
		sandbox_add(p.sb);
	else if (complete_end(p.sb, in, &added))
		add_added(&p, &added);
	count_instructions(&p);
	return p.sb;
}
