/* Adds to each block of guest code: a guarded call (guard.h) at every store (and load, when asked), calls at flushes and fences, the
 * upkeep of the call stack (calls.h), and what stock VEX lacks (clwb, clflushopt, movdiri, movdir64b; their CPUID bits). */
#include "valgrind/recorder/blocks/instrument.h"

#include "valgrind/recorder/blocks/calls.h"
#include "valgrind/common/insn.h"
#include "valgrind/recorder/blocks/events.h"
#include "valgrind/recorder/blocks/guard.h"

#include "pub_tool_aspacemgr.h"

struct pass {
	IRSB *in, *sb;
	struct guards guards;
	Addr pc; /* of the instruction in hand */
	UInt len_bytes;
	struct insn insn;
	Int insn_start; /* its first statement in `in` */
	UInt nuncounted; /* instructions since the counter was last raised */
};

static void add_load(struct pass *p, IRExpr *addr, UInt size, IRExpr *condition)
{
	struct code *c;

	if (!clo_loads)
		return;
	c = code_get(p->pc, PMT_LOAD, size);
	call(p->sb, guard_pm(&p->guards, p->sb, addr, condition), "event_load", event_load, mkIRExprVec_2(mkptr(c), addr));
}

/* maskmovdqu reads, merges and writes back in the IR: only the selected bytes are stored in truth. VEX builds the mask with
 * one 64HLtoV128, or for maskmovq with SarN8x8. */
static Bool find_mask(struct pass *p, UInt size, IRExpr **lo, IRExpr **hi)
{
	const IROp op = size == 16 ? Iop_64HLtoV128 : Iop_SarN8x8;

	for (Int i = p->insn_start; i < p->in->stmts_used; i++) {
		IRStmt *st = p->in->stmts[i];
		IRExpr *e;

		if (st == NULL || st->tag != Ist_WrTmp)
			continue;
		e = st->Ist.WrTmp.data;
		if (e->tag != Iex_Binop || e->Iex.Binop.op != op)
			continue;
		*hi = size == 16 ? e->Iex.Binop.arg1 : mk64(0);
		*lo = size == 16 ? e->Iex.Binop.arg2 : IRExpr_RdTmp(st->Ist.WrTmp.tmp);
		return True;
	}
	return False;
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

static void add_store(struct pass *p, IRExpr *addr, UInt size, IRExpr *condition)
{
	enum pmt_kind kind = p->insn.what == INSN_NT_STORE ? PMT_STORE_NT : PMT_STORE;
	IRExpr *lo, *hi;
	struct code *c;

	if (p->insn.what == INSN_MASK_MOVE && find_mask(p, size, &lo, &hi)) {
		c = code_get(p->pc, PMT_STORE_NT, size);
		call(p->sb, guard_pm(&p->guards, p->sb, addr, condition), "event_masked_store", event_masked_store,
		     mkIRExprVec_4(mkptr(c), addr, lo, hi));
		return;
	}
	c = code_get(p->pc, kind, size);
	call(p->sb, guard_pm(&p->guards, p->sb, addr, condition), "event_store", store_helper(kind, size), mkIRExprVec_2(mkptr(c), addr));
}

static IRExpr *cas_equal(IRSB *sb, IRType type, IRTemp old, IRExpr *expected)
{
	IROp op = type == Ity_I8  ? Iop_CasCmpEQ8 :
		  type == Ity_I16 ? Iop_CasCmpEQ16 :
		  type == Ity_I32 ? Iop_CasCmpEQ32 :
				    Iop_CasCmpEQ64;

	return as64(sb, binop(sb, Ity_I1, op, IRExpr_RdTmp(old), expected));
}

static void add_before_cas(struct pass *p, IRCAS *cas)
{
	IRSB *sb = p->sb;
	IRExpr *both = binop(sb, Ity_I64, Iop_And64, guard_granule(sb, cas->addr), load64(sb, mkptr(&g_shared)));

	call(sb, binop(sb, Ity_I1, Iop_CmpNE64, both, mk64(0)), "event_before_cas", event_before_cas, mkIRExprVec_0());
}

static void add_cas(struct pass *p, IRCAS *cas)
{
	IRSB *sb = p->sb;
	IRType type = typeOfIRExpr(sb->tyenv, cas->dataLo);
	Bool is_double = cas->dataHi != NULL;
	UInt size = (UInt)sizeofIRType(type) * (is_double ? 2 : 1);
	struct code *c = code_get(p->pc, PMT_STORE_RMW, size);
	IRExpr *ok = cas_equal(sb, type, cas->oldLo, cas->expdLo), *guard;

	if (is_double)
		ok = binop(sb, Ity_I64, Iop_And64, ok, cas_equal(sb, type, cas->oldHi, cas->expdHi));
	guard = binop(sb, Ity_I64, Iop_Or64, guard_granule(sb, cas->addr), load64(sb, mkptr(&g_pending)));
	add_load(p, cas->addr, size, NULL);
	call(sb, binop(sb, Ity_I1, Iop_CmpNE64, guard, mk64(0)), "event_cas", event_cas,
	     mkIRExprVec_3(mkptr(c), cas->addr, ok));
}

static void add_fence(struct pass *p)
{
	enum pmt_kind kind;

	switch (p->insn.what) {
	case INSN_SFENCE: kind = PMT_SFENCE; break;
	case INSN_MFENCE: kind = PMT_MFENCE; break;
	case INSN_LFENCE: kind = PMT_LFENCE; break;
	default: return;
	}
	call(p->sb, NULL, "event_fence", event_fence,
	     mkIRExprVec_2(mkptr(code_get(p->pc, kind, 0)), IRExpr_GSPTR()));
}

static void add_flush(struct pass *p, const UChar *code, enum pmt_kind kind)
{
	IRExpr *addr = insn_address(p->sb, code, &p->insn, p->pc);

	call(p->sb, NULL, "event_flush", event_flush,
	     mkIRExprVec_3(mkptr(code_get(p->pc, kind, PMT_LINE_BYTES)), addr, IRExpr_GSPTR()));
}

/* ---- CPUID ---- */

static VG_REGPARM(2) ULong cpuid_extra(ULong leaf, ULong subleaf)
{
	return (UInt)leaf == 7 && (UInt)subleaf == 0 ? 1u << 23 | 1u << 24 : 0; /* clflushopt, clwb */
}

static void add_dirty(struct pass *p, IRStmt *st)
{
	IRDirty *d = st->Ist.Dirty.details;
	IRSB *sb = p->sb;

	if (VG_(strncmp)(d->cee->name, "amd64g_dirtyhelper_CPUID", 24) == 0) {
		const Int rbx = offsetof(VexGuestAMD64State, guest_RBX);
		IRExpr *leaf = assign(sb, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RAX), Ity_I64));
		IRExpr *sub = assign(sb, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RCX), Ity_I64));
		IRTemp bits = newIRTemp(sb->tyenv, Ity_I64);

		addStmtToIRSB(sb, st);
		addStmtToIRSB(sb, IRStmt_Dirty(unsafeIRDirty_1_N(bits, 2, "cpuid_extra", VG_(fnptr_to_fnentry)(cpuid_extra),
								 mkIRExprVec_2(leaf, sub))));
		addStmtToIRSB(sb, IRStmt_Put(rbx, binop(sb, Ity_I64, Iop_Or64,
							assign(sb, Ity_I64, IRExpr_Get(rbx, Ity_I64)),
							IRExpr_RdTmp(bits))));
		return;
	}
	addStmtToIRSB(sb, st);
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify) {
		Int done = 0;

		while (done < d->mSize) { /* fxsave and the like: in pieces that a record can hold */
			Int n = d->mSize - done < (Int)PMT_STORE_MAX_BYTES ? d->mSize - done : (Int)PMT_STORE_MAX_BYTES;

			add_store(p, done ? binop(sb, Ity_I64, Iop_Add64, d->mAddr, mk64(done)) : d->mAddr, n, d->guard);
			done += n;
		}
	}
	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
		add_load(p, d->mAddr, d->mSize, d->guard);
}

/* ---- instructions that VEX cannot decode ---- */

static UInt copy_code(UChar *to, Addr from, UInt max)
{
	UInt n = 0;

	for (; n < max; n++) {
		if ((n == 0 || ((from + n) & 0xfff) == 0) && !VG_(am_is_valid_for_client)(from + n, 1, VKI_PROT_READ))
			break;
		to[n] = *(const UChar *)(from + n);
	}
	return n;
}

static void complete_movdir(struct pass *p, const UChar *code)
{
	IRSB *sb = p->sb;
	IRExpr *mem = insn_address(sb, code, &p->insn, p->pc);
	IRExpr *reg = assign(sb, Ity_I64, IRExpr_Get(insn_register_offset(insn_register(code, &p->insn)), Ity_I64));

	if (p->insn.what == INSN_MOVDIRI) {
		IRExpr *data = p->insn.size_bytes == 8 ? reg : assign(sb, Ity_I32, IRExpr_Unop(Iop_64to32, reg));

		addStmtToIRSB(sb, IRStmt_Store(Iend_LE, mem, data));
		p->insn.what = INSN_NT_STORE;
		add_store(p, mem, p->insn.size_bytes, NULL);
		return;
	}
	{
		IRExpr *words[8];

		for (Int i = 0; i < 8; i++)
			words[i] = load64(sb, binop(sb, Ity_I64, Iop_Add64, mem, mk64(8 * i)));
		for (Int i = 0; i < 8; i++)
			store64(sb, binop(sb, Ity_I64, Iop_Add64, reg, mk64(8 * i)), words[i]);
		add_load(p, mem, 64, NULL);
		p->insn.what = INSN_NT_STORE;
		add_store(p, reg, 64, NULL);
	}
}

static void complete_block(struct pass *p)
{
	UChar code[16] = { 0 };
	UInt len;

	if (p->sb->next->tag != Iex_Const)
		return;
	p->pc = p->sb->next->Iex.Const.con->Ico.U64;
	len = copy_code(code, p->pc, 15);
	if (len == 0)
		return;
	p->insn = insn_decode(code);
	switch (p->insn.what) {
	case INSN_CLWB: add_flush(p, code, PMT_CLWB); break;
	case INSN_CLFLUSHOPT: add_flush(p, code, PMT_CLFLUSHOPT); break;
	case INSN_MOVDIRI:
	case INSN_MOVDIR64B: {
		UInt insn_len = p->insn.len_bytes;

		complete_movdir(p, code);
		p->insn.len_bytes = insn_len;
		break;
	}
	case INSN_CLDEMOTE: break;
	default: return;
	}
	p->nuncounted++;
	p->sb->next = mk64(p->pc + p->insn.len_bytes);
	p->sb->jumpkind = Ijk_Boring;
}

/* ---- the pass ---- */

/* Before whatever may leave the block. */
static void count_instructions(struct pass *p)
{
	IRSB *sb = p->sb;

	if (clo_instructions && p->nuncounted > 0)
		store64(sb, mkptr(&g_ninstructions), binop(sb, Ity_I64, Iop_Add64, load64(sb, mkptr(&g_ninstructions)), mk64(p->nuncounted)));
	p->nuncounted = 0;
}

static void begin_insn(struct pass *p, IRStmt *st, Int index)
{
	UChar code[16] = { 0 };

	addStmtToIRSB(p->sb, st);
	p->pc = st->Ist.IMark.addr;
	p->len_bytes = st->Ist.IMark.len;
	p->insn_start = index;
	p->insn = (struct insn){ 0 };
	p->nuncounted += p->len_bytes > 0; /* complete_block() counts what VEX does not decode */
	if (p->len_bytes == 0 || p->len_bytes > 15)
		return;
	VG_(memcpy)(code, (const void *)p->pc, p->len_bytes);
	p->insn = insn_decode(code);
	if (p->insn.what == INSN_CLFLUSH)
		add_flush(p, code, PMT_CLFLUSH);
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
		add_store(p, st->Ist.Store.addr, sizeofIRType(typeOfIRExpr(sb->tyenv, st->Ist.Store.data)), NULL);
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
	case Ist_Dirty: add_dirty(p, st); break;
	case Ist_LLSC: /* no such thing on amd64 */
	case Ist_Put:
	case Ist_PutI:
	case Ist_AbiHint: addStmtToIRSB(sb, st); break;
	case Ist_Exit:
		count_instructions(p);
		addStmtToIRSB(sb, st);
		break;
	}
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		 const VexArchInfo *arch, IRType guest_word, IRType host_word)
{
	struct pass p = { .in = in, .sb = deepCopyIRSBExceptStmts(in) };

	guards_init(&p.guards, in);
	calls_add_tx_add(p.sb, extents->base[0]);
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i] != NULL)
			instrument_stmt(&p, in->stmts[i], i);
	switch (p.sb->jumpkind) {
	case Ijk_Call: calls_add_call(p.sb, p.pc + p.len_bytes); break;
	case Ijk_Ret: calls_add_return(p.sb); break;
	case Ijk_NoDecode: complete_block(&p); break;
	case Ijk_InvalICache: /* clflush; throwing the translations of a line of data away is of no use */
		if (p.insn.what == INSN_CLFLUSH)
			p.sb->jumpkind = Ijk_Boring;
		break;
	default: break;
	}
	count_instructions(&p);
	return p.sb;
}
