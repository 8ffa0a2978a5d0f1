/* See decode.h. Only the instructions named there are recognised; the rest is INSN_OTHER. */
#include "valgrind/common/insn.h"

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

/* 0f ae: by the ModRM byte and the 66 prefix. */
static enum insn_what decode_0fae(UChar modrm, const struct prefixes *p)
{
	UInt reg = (modrm >> 3) & 7;

	if (modrm >> 6 == 3) {
		if (p->p66 || p->pf2 || p->pf3)
			return INSN_OTHER;
		return reg == 5 ? INSN_LFENCE : reg == 6 ? INSN_MFENCE : reg == 7 ? INSN_SFENCE : INSN_OTHER;
	}
	if (p->pf2 || p->pf3)
		return INSN_OTHER;
	if (reg == 7)
		return p->p66 ? INSN_CLFLUSHOPT : INSN_CLFLUSH;
	return reg == 6 && p->p66 ? INSN_CLWB : INSN_OTHER;
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

struct insn insn_decode(const UChar *code)
{
	struct insn insn = { .what = INSN_OTHER };
	struct prefixes p = read_prefixes(code, &insn);
	const UChar *c = code + p.n;
	Bool is_mem;

	if (c[0] == 0xc4 || c[0] == 0xc5) {
		insn.what = decode_vex(c);
		return insn;
	}
	if (c[0] != 0x0f)
		return insn;
	is_mem = c[2] >> 6 != 3;
	insn.prefix_bytes = p.n + 2;
	switch (c[1]) {
	case 0xae: insn.what = decode_0fae(c[2], &p); break;
	case 0xc3: insn.what = is_mem ? INSN_NT_STORE : INSN_OTHER; break;
	case 0xe7:
	case 0x2b: insn.what = is_mem ? INSN_NT_STORE : INSN_OTHER; break;
	case 0xf7: insn.what = !is_mem ? INSN_MASK_MOVE : INSN_OTHER; break;
	case 0x1c: insn.what = is_mem && (c[2] >> 3 & 7) == 0 && !p.p66 ? INSN_CLDEMOTE : INSN_OTHER; break;
	case 0x38:
		insn.prefix_bytes = p.n + 3;
		is_mem = c[3] >> 6 != 3;
		if (c[2] == 0xf9 && is_mem && !p.p66 && !p.pf2 && !p.pf3) {
			insn.what = INSN_MOVDIRI;
			insn.size_bytes = insn.rex & 8 ? 8 : 4;
		} else if (c[2] == 0xf8 && is_mem && p.p66) {
			insn.what = INSN_MOVDIR64B;
		}
		break;
	default: break;
	}
	insn.len_bytes = insn.prefix_bytes + modrm_bytes(code + insn.prefix_bytes);
	return insn;
}

Int insn_register_offset(UInt reg)
{
	static const Int offsets[16] = {
		offsetof(VexGuestAMD64State, guest_RAX), offsetof(VexGuestAMD64State, guest_RCX),
		offsetof(VexGuestAMD64State, guest_RDX), offsetof(VexGuestAMD64State, guest_RBX),
		offsetof(VexGuestAMD64State, guest_RSP), offsetof(VexGuestAMD64State, guest_RBP),
		offsetof(VexGuestAMD64State, guest_RSI), offsetof(VexGuestAMD64State, guest_RDI),
		offsetof(VexGuestAMD64State, guest_R8),	 offsetof(VexGuestAMD64State, guest_R9),
		offsetof(VexGuestAMD64State, guest_R10), offsetof(VexGuestAMD64State, guest_R11),
		offsetof(VexGuestAMD64State, guest_R12), offsetof(VexGuestAMD64State, guest_R13),
		offsetof(VexGuestAMD64State, guest_R14), offsetof(VexGuestAMD64State, guest_R15),
	};

	return offsets[reg];
}

UInt insn_register(const UChar *code, const struct insn *insn)
{
	return (code[insn->prefix_bytes] >> 3 & 7) | (insn->rex & 4 ? 8 : 0);
}

static IRExpr *add_to(IRSB *sb, IRExpr *e, IRExpr *more)
{
	IRTemp t = newIRTemp(sb->tyenv, Ity_I64);

	addStmtToIRSB(sb, IRStmt_WrTmp(t, IRExpr_Binop(Iop_Add64, e, more)));
	return IRExpr_RdTmp(t);
}

static IRExpr *get_state(IRSB *sb, Int offset)
{
	IRTemp t = newIRTemp(sb->tyenv, Ity_I64);

	addStmtToIRSB(sb, IRStmt_WrTmp(t, IRExpr_Get(offset, Ity_I64)));
	return IRExpr_RdTmp(t);
}

static Long read_disp32(const UChar *p)
{
	Int d;

	VG_(memcpy)(&d, p, sizeof d);
	return d;
}

IRExpr *insn_address(IRSB *sb, const UChar *code, const struct insn *insn, Addr pc)
{
	const UChar *m = code + insn->prefix_bytes, *disp = m + 1;
	UInt mod = m[0] >> 6, rm = m[0] & 7;
	Int base = (Int)(rm | (insn->rex & 1 ? 8 : 0)), index = -1;
	UInt scale = 0;
	Long offset = 0;
	IRExpr *e;

	if (rm == 4) {
		UChar sib = *disp++;

		scale = sib >> 6;
		index = (sib >> 3 & 7) | (insn->rex & 2 ? 8 : 0);
		if (index == 4)
			index = -1;
		base = (sib & 7) | (insn->rex & 1 ? 8 : 0);
		if ((sib & 7) == 5 && mod == 0) {
			base = -1;
			offset = read_disp32(disp);
		}
	} else if (rm == 5 && mod == 0) {
		base = -1;
		offset = read_disp32(disp) + (Long)(pc + insn->len_bytes);
	}
	if (mod == 1)
		offset = (signed char)*disp;
	else if (mod == 2)
		offset = read_disp32(disp);

	e = IRExpr_Const(IRConst_U64((ULong)offset));
	if (base >= 0)
		e = add_to(sb, get_state(sb, insn_register_offset(base)), e);
	if (index >= 0) {
		IRTemp t = newIRTemp(sb->tyenv, Ity_I64);

		addStmtToIRSB(sb, IRStmt_WrTmp(t, IRExpr_Binop(Iop_Shl64, get_state(sb, insn_register_offset(index)),
							       IRExpr_Const(IRConst_U8(scale)))));
		e = add_to(sb, IRExpr_RdTmp(t), e);
	}
	if (insn->is_addr32) {
		IRTemp t = newIRTemp(sb->tyenv, Ity_I64);

		addStmtToIRSB(sb, IRStmt_WrTmp(t, IRExpr_Binop(Iop_And64, e, IRExpr_Const(IRConst_U64(0xffffffffu)))));
		e = IRExpr_RdTmp(t);
	}
	if (insn->segment)
		e = add_to(sb,
			   get_state(sb, insn->segment == 0x64 ? offsetof(VexGuestAMD64State, guest_FS_CONST) :
								 offsetof(VexGuestAMD64State, guest_GS_CONST)),
			   e);
	return e;
}
