/* Instructions of x86-64, by their bytes. Only those that insn.h names are told apart; the rest is INSN_OTHER. */
#include "valgrind/common/ir.h"

#include "pub_tool_libcbase.h"
#include "libvex_guest_amd64.h"

struct prefixes {
	UInt n; /* bytes */
	Bool p66, pf2, pf3;
};

static struct prefixes read_prefixes(const UChar *c, struct insn *insn)
{
	struct prefixes p = { 0 };

	for (;; p.n++) {
		switch (c[p.n]) {
		case 0x66: p.p66 = True; break;
		case 0xf2: p.pf2 = True; break;
		case 0xf3: p.pf3 = True; break;
		case 0x67: insn->is_addr32 = True; break;
		case 0x64:
		case 0x65: insn->segment = c[p.n]; break;
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x26:
		case 0xf0: break;
		default: goto rex;
		}
		if (p.n == 14)
			return p;
	}
rex:
	if ((c[p.n] & 0xf0) == 0x40)
		insn->rex = c[p.n++];
	return p;
}

/* Bytes of ModRM, SIB and displacement. */
static UInt modrm_bytes(const UChar *m)
{
	UInt mod = m[0] >> 6, rm = m[0] & 7, n = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		n++;
		if (mod == 0 && (m[1] & 7) == 5)
			n += 4;
	}
	if (mod == 0 && rm == 5)
		n += 4;
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static void is_flush(struct insn *insn, enum pmt_kind event)
{
	insn->what = INSN_FLUSH;
	insn->event = event;
}

static void is_fence(struct insn *insn, enum pmt_kind event)
{
	insn->what = INSN_FENCE;
	insn->event = event;
}

/* 0f ae: by the ModRM byte and the 66 prefix. */
static void decode_0fae(struct insn *insn, UChar modrm, const struct prefixes *p)
{
	UInt reg = (modrm >> 3) & 7;

	if (p->pf2 || p->pf3)
		return;
	if (modrm >> 6 == 3) {
		if (reg >= 5 && !p->p66)
			is_fence(insn, reg == 5 ? PMT_LFENCE : reg == 6 ? PMT_MFENCE : PMT_SFENCE);
		return;
	}
	if (reg == 7)
		is_flush(insn, p->p66 ? PMT_CLFLUSHOPT : PMT_CLFLUSH);
	else if (reg == 6 && p->p66)
		is_flush(insn, PMT_CLWB);
}

static enum insn_what decode_vex(const UChar *c)
{
	Bool is_map_0f = c[0] == 0xc5 || (c[1] & 0x1f) == 1;
	const UChar *op = c[0] == 0xc5 ? c + 2 : c + 3;

	if (!is_map_0f)
		return INSN_OTHER;
	if ((op[0] == 0xe7 || op[0] == 0x2b) && op[1] >> 6 != 3)
		return INSN_NT_STORE;
	return op[0] == 0xf7 && op[1] >> 6 == 3 ? INSN_MASK_MOVE : INSN_OTHER;
}

/* 0f 38: direct stores. */
static void decode_0f38(struct insn *insn, const UChar *op, const struct prefixes *p)
{
	if (op[1] >> 6 == 3)
		return;
	if (op[0] == 0xf9 && !p->p66 && !p->pf2 && !p->pf3) { /* movdiri */
		insn->what = INSN_DIRECT_STORE;
		insn->size_bytes = insn->rex & 8 ? 8 : 4;
	} else if (op[0] == 0xf8 && p->p66) { /* movdir64b */
		insn->what = INSN_DIRECT_COPY;
		insn->size_bytes = 64;
	}
}

struct insn arch_decode(Addr pc, const UChar *code)
{
	struct insn insn = { .pc = pc };
	struct prefixes p = read_prefixes(code, &insn);
	const UChar *c = code + p.n;
	Bool is_mem;

	VG_(memcpy)(insn.code, code, sizeof insn.code);
	if (c[0] == 0xc4 || c[0] == 0xc5) {
		insn.what = decode_vex(c);
		return insn;
	}
	if (c[0] != 0x0f)
		return insn;
	is_mem = c[2] >> 6 != 3;
	insn.prefix_bytes = p.n + 2;
	switch (c[1]) {
	case 0xae: decode_0fae(&insn, c[2], &p); break;
	case 0xc3:
	case 0xe7:
	case 0x2b: insn.what = is_mem ? INSN_NT_STORE : INSN_OTHER; break;
	case 0xf7: insn.what = !is_mem ? INSN_MASK_MOVE : INSN_OTHER; break;
	case 0x1c: insn.what = is_mem && (c[2] >> 3 & 7) == 0 && !p.p66 ? INSN_HINT : INSN_OTHER; break; /* cldemote */
	case 0x38:
		insn.prefix_bytes = p.n + 3;
		decode_0f38(&insn, c + 2, &p);
		break;
	default: break;
	}
	insn.len_bytes = insn.prefix_bytes + modrm_bytes(code + insn.prefix_bytes);
	return insn;
}

/* ---- operands ---- */

static Int register_offset(UInt reg)
{
#define AT(NAME) offsetof(VexGuestAMD64State, guest_##NAME)
	static const Int offsets[16] = { AT(RAX), AT(RCX), AT(RDX), AT(RBX), AT(RSP), AT(RBP), AT(RSI), AT(RDI),
					 AT(R8),  AT(R9),  AT(R10), AT(R11), AT(R12), AT(R13), AT(R14), AT(R15) };
#undef AT

	return offsets[reg];
}

static Long read_disp32(const UChar *p)
{
	Int d;

	VG_(memcpy)(&d, p, sizeof d);
	return d;
}

/* base + (index << scale) + offset; a register may be -1, which is none. */
struct operand {
	Int base, index;
	UInt scale;
	Long offset;
};

static struct operand operand_of(const struct insn *insn)
{
	const UChar *m = insn->code + insn->prefix_bytes, *disp = m + 1;
	UInt mod = m[0] >> 6, rm = m[0] & 7;
	struct operand o = { .base = (Int)(rm | (insn->rex & 1 ? 8 : 0)), .index = -1 };

	if (rm == 4) {
		UChar sib = *disp++;

		o.scale = sib >> 6;
		o.index = (sib >> 3 & 7) | (insn->rex & 2 ? 8 : 0);
		if (o.index == 4)
			o.index = -1;
		o.base = (sib & 7) | (insn->rex & 1 ? 8 : 0);
		if ((sib & 7) == 5 && mod == 0) {
			o.base = -1;
			o.offset = read_disp32(disp);
		}
	} else if (rm == 5 && mod == 0) {
		o.base = -1;
		o.offset = read_disp32(disp) + (Long)(insn->pc + insn->len_bytes);
	}
	if (mod == 1)
		o.offset = (signed char)*disp;
	else if (mod == 2)
		o.offset = read_disp32(disp);
	return o;
}

IRExpr *arch_address(IRSB *sb, const struct insn *insn)
{
	struct operand o = operand_of(insn);
	IRExpr *e = ir_u64((ULong)o.offset);

	if (o.base >= 0)
		e = ir_add(sb, ir_register(sb, register_offset(o.base)), e);
	if (o.index >= 0)
		e = ir_add(sb,
			   ir_binop(sb, Ity_I64, Iop_Shl64, ir_register(sb, register_offset(o.index)), IRExpr_Const(IRConst_U8(o.scale))), e);
	if (insn->is_addr32)
		e = ir_binop(sb, Ity_I64, Iop_And64, e, ir_u64(0xffffffffu));
	if (insn->segment)
		e = ir_add(sb,
			   ir_register(sb, insn->segment == 0x64 ? offsetof(VexGuestAMD64State, guest_FS_CONST) :
								   offsetof(VexGuestAMD64State, guest_GS_CONST)),
			   e);
	return e;
}

/* The register operand of the ModRM byte. */
static IRExpr *register_of(IRSB *sb, const struct insn *insn)
{
	return ir_register(sb, register_offset((insn->code[insn->prefix_bytes] >> 3 & 7) | (insn->rex & 4 ? 8 : 0)));
}

/* maskmovdqu reads, merges and writes back in the IR: only the selected bytes are stored in truth. VEX builds the mask with
 * one 64HLtoV128, or for maskmovq with SarN8x8. */
Bool arch_find_mask(const IRSB *in, Int first_stmt, UInt size_bytes, IRExpr **lo, IRExpr **hi)
{
	const IROp op = size_bytes == 16 ? Iop_64HLtoV128 : Iop_SarN8x8;

	for (Int i = first_stmt; i < in->stmts_used; i++) {
		const IRStmt *st = in->stmts[i];
		const IRExpr *e;

		if (st == NULL || st->tag != Ist_WrTmp)
			continue;
		e = st->Ist.WrTmp.data;
		if (e->tag != Iex_Binop || e->Iex.Binop.op != op)
			continue;
		*hi = size_bytes == 16 ? e->Iex.Binop.arg1 : ir_u64(0);
		*lo = size_bytes == 16 ? e->Iex.Binop.arg2 : IRExpr_RdTmp(st->Ist.WrTmp.tmp);
		return True;
	}
	return False;
}

/* ---- instructions that VEX cannot decode ---- */

static void direct_store_add(IRSB *sb, struct added_insn *added)
{
	IRExpr *reg;

	added->stored = arch_address(sb, &added->insn);
	reg = register_of(sb, &added->insn);
	ir_store(sb, added->stored, added->insn.size_bytes == 8 ? reg : ir_unop(sb, Ity_I32, Iop_64to32, reg));
}

static void direct_copy_add(IRSB *sb, struct added_insn *added)
{
	IRExpr *words[8];

	added->loaded = arch_address(sb, &added->insn);
	added->stored = register_of(sb, &added->insn);
	for (UInt i = 0; i < 8; i++)
		words[i] = ir_load(sb, Ity_I64, ir_add(sb, added->loaded, ir_u64(8 * i)));
	for (UInt i = 0; i < 8; i++)
		ir_store(sb, ir_add(sb, added->stored, ir_u64(8 * i)), words[i]);
}

Bool arch_add_insn(IRSB *sb, struct added_insn *added)
{
	switch (added->insn.what) {
	case INSN_DIRECT_STORE: direct_store_add(sb, added); return True;
	case INSN_DIRECT_COPY: direct_copy_add(sb, added); return True;
	case INSN_FLUSH: return added->insn.event != PMT_CLFLUSH; /* of no effect on what the program computes */
	case INSN_HINT: return True;
	case INSN_FENCE:
	case INSN_NT_STORE:
	case INSN_MASK_MOVE:
	case INSN_OTHER: break;
	}
	return False;
}
