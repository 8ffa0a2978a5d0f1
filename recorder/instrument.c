/* Adds to each block of guest code: a guarded call at every store (and load, when asked), calls at flushes and fences, the
 * upkeep of the call stack, and what stock VEX lacks (clwb, clflushopt, movdiri, movdir64b; their CPUID bits).
 * The guard is a look into a byte table by address, so volatile stores cost a few host instructions each. */
#include "instrument.h"

#include "decode.h"
#include "events.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_machine.h"
#include "libvex_guest_amd64.h"

/* A temporary that is another one plus a constant. */
struct derived {
	IRTemp root;
	Long offset;
};

/* A look into g_granules serves for all addresses up to GRANULE_REACH_BYTES away. */
struct look {
	struct derived at;
	IRExpr *granule;
};
#define MAX_LOOKS 8

struct pass {
	IRSB *in, *sb;
	struct derived *derived; /* by temporary of `in` */
	Int nderived;
	struct look looks[MAX_LOOKS];
	UInt nlooks;
	Addr pc; /* of the instruction in hand */
	UInt len_bytes;
	struct insn insn;
	Int insn_start; /* its first statement in `in` */
};

static IRExpr *mk64(ULong n)
{
	return IRExpr_Const(IRConst_U64(n));
}

static IRExpr *mkptr(const void *p)
{
	return mk64((ULong)(Addr)p);
}

static IRExpr *assign(IRSB *sb, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(sb->tyenv, type);

	addStmtToIRSB(sb, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *binop(IRSB *sb, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
	return assign(sb, type, IRExpr_Binop(op, a, b));
}

static IRExpr *load64(IRSB *sb, IRExpr *from)
{
	return assign(sb, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, from));
}

static void store64(IRSB *sb, IRExpr *to, IRExpr *e)
{
	addStmtToIRSB(sb, IRStmt_Store(Iend_LE, to, e));
}

static void call(IRSB *sb, IRExpr *guard, const HChar *name, void *f, IRExpr **args)
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

/* The byte of g_granules for an address, as 64 bits: nonzero if PM may be there. */
static IRExpr *granule(IRSB *sb, IRExpr *addr)
{
	IRExpr *e = binop(sb, Ity_I64, Iop_Shr64, addr, IRExpr_Const(IRConst_U8(GRANULE_SHIFT)));

	e = binop(sb, Ity_I64, Iop_And64, e, mk64(GRANULES - 1));
	e = binop(sb, Ity_I64, Iop_Add64, e, mkptr(g_granules));
	e = assign(sb, Ity_I8, IRExpr_Load(Iend_LE, Ity_I8, e));
	return assign(sb, Ity_I64, IRExpr_Unop(Iop_8Uto64, e));
}

static IRExpr *as64(IRSB *sb, IRExpr *bit)
{
	return assign(sb, Ity_I64, IRExpr_Unop(Iop_1Uto64, bit));
}

static struct derived derive(const struct pass *p, const IRExpr *e)
{
	if (e->tag != Iex_RdTmp || (Int)e->Iex.RdTmp.tmp >= p->nderived)
		return (struct derived){ IRTemp_INVALID, 0 };
	return p->derived[e->Iex.RdTmp.tmp];
}

static void note_tmp(struct pass *p, IRTemp tmp, const IRExpr *e)
{
	struct derived *d = &p->derived[tmp], from;
	const IRExpr *by;
	Bool is_sub;

	*d = (struct derived){ tmp, 0 };
	if (e->tag != Iex_Binop || (e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64))
		return;
	is_sub = e->Iex.Binop.op == Iop_Sub64;
	by = e->Iex.Binop.arg2;
	from = derive(p, e->Iex.Binop.arg1);
	if (from.root != IRTemp_INVALID && by->tag == Iex_Const)
		*d = (struct derived){ from.root, from.offset + (Long)(is_sub ? -by->Iex.Const.con->Ico.U64 : by->Iex.Const.con->Ico.U64) };
}

/* The same as granule(), or a look at an address near it. */
static IRExpr *granule_near(struct pass *p, IRExpr *addr)
{
	struct derived d = derive(p, addr);
	IRExpr *e;

	for (UInt i = 0; d.root != IRTemp_INVALID && i < p->nlooks; i++) {
		const struct look *l = &p->looks[i];

		if (l->at.root == d.root && (ULong)(d.offset - l->at.offset + GRANULE_REACH_BYTES) < 2 * GRANULE_REACH_BYTES)
			return l->granule;
	}
	e = granule(p->sb, addr);
	if (d.root != IRTemp_INVALID && p->nlooks < MAX_LOOKS)
		p->looks[p->nlooks++] = (struct look){ d, e };
	return e;
}

/* True if the address may be PM and, when there is one, the condition holds. */
static IRExpr *pm_guard(struct pass *p, IRExpr *addr, IRExpr *condition)
{
	IRSB *sb = p->sb;
	IRExpr *e = granule_near(p, addr);

	if (condition != NULL)
		e = binop(sb, Ity_I64, Iop_And64, e, as64(sb, condition));
	return binop(sb, Ity_I1, Iop_CmpNE64, e, mk64(0));
}

static void add_load(struct pass *p, IRExpr *addr, UInt size, IRExpr *condition)
{
	struct code *c;

	if (!clo_loads)
		return;
	c = code_get(p->pc, PMT_LOAD, size);
	call(p->sb, pm_guard(p, addr, condition), "event_load", event_load, mkIRExprVec_2(mkptr(c), addr));
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
		call(p->sb, pm_guard(p, addr, condition), "event_masked_store", event_masked_store,
		     mkIRExprVec_4(mkptr(c), addr, lo, hi));
		return;
	}
	c = code_get(p->pc, kind, size);
	call(p->sb, pm_guard(p, addr, condition), "event_store", store_helper(kind, size), mkIRExprVec_2(mkptr(c), addr));
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
	IRExpr *both = binop(sb, Ity_I64, Iop_And64, granule(sb, cas->addr), load64(sb, mkptr(&g_shared)));

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
	guard = binop(sb, Ity_I64, Iop_Or64, granule(sb, cas->addr), load64(sb, mkptr(&g_pending)));
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

/* ---- calls of libpmemobj ---- */

static IRExpr *get_register(IRSB *sb, Int offset)
{
	return assign(sb, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

#define REGISTER(sb, NAME) get_register(sb, offsetof(VexGuestAMD64State, guest_##NAME))

/* A block that begins with one of the functions that log a range. PMDK's own event comes only for bytes not yet logged. */
static void add_tx_add(struct pass *p, Addr pc)
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
	IRSB *sb = p->sb;
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
static void add_call(struct pass *p)
{
	IRSB *sb = p->sb;
	IRExpr *top = load64(sb, mkptr(&g_top)), *next = binop(sb, Ity_I64, Iop_Add64, top, mk64(sizeof(struct frame)));
	IRExpr *sp = assign(sb, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RSP), Ity_I64)), *depth, *near;

	store64(sb, next, sp);
	store64(sb, binop(sb, Ity_I64, Iop_Add64, next, mk64(offsetof(struct frame, ret))), mk64(p->pc + p->len_bytes));
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

static void add_return(struct pass *p)
{
	IRSB *sb = p->sb;
	IRExpr *top = load64(sb, mkptr(&g_top));
	IRExpr *sp = assign(sb, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RSP), Ity_I64));

	store64(sb, mkptr(&g_top), binop(sb, Ity_I64, Iop_Sub64, top, mk64(sizeof(struct frame))));
	call(sb, binop(sb, Ity_I1, Iop_CmpNE64, load64(sb, top), binop(sb, Ity_I64, Iop_Sub64, sp, mk64(8))), "stack_return_slow",
	     stack_return_slow, mkIRExprVec_1(sp));
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
	p->sb->next = mk64(p->pc + p->insn.len_bytes);
	p->sb->jumpkind = Ijk_Boring;
}

/* ---- the pass ---- */

static void begin_insn(struct pass *p, IRStmt *st, Int index)
{
	UChar code[16] = { 0 };

	addStmtToIRSB(p->sb, st);
	p->pc = st->Ist.IMark.addr;
	p->len_bytes = st->Ist.IMark.len;
	p->insn_start = index;
	p->insn = (struct insn){ 0 };
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
		note_tmp(p, st->Ist.WrTmp.tmp, e);
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
	case Ist_AbiHint:
	case Ist_Exit: addStmtToIRSB(sb, st); break;
	}
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		 const VexArchInfo *arch, IRType guest_word, IRType host_word)
{
	struct pass p = { .in = in, .sb = deepCopyIRSBExceptStmts(in) };

	p.nderived = in->tyenv->types_used;
	p.derived = LibVEX_Alloc(p.nderived * sizeof *p.derived);
	for (Int i = 0; i < p.nderived; i++)
		p.derived[i] = (struct derived){ i, 0 };
	add_tx_add(&p, extents->base[0]);
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i] != NULL)
			instrument_stmt(&p, in->stmts[i], i);
	switch (p.sb->jumpkind) {
	case Ijk_Call: add_call(&p); break;
	case Ijk_Ret: add_return(&p); break;
	case Ijk_NoDecode: complete_block(&p); break;
	case Ijk_InvalICache: /* clflush; throwing the translations of a line of data away is of no use */
		if (p.insn.what == INSN_CLFLUSH)
			p.sb->jumpkind = Ijk_Boring;
		break;
	default: break;
	}
	return p.sb;
}
