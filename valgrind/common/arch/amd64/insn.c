/* Decodes the x86-64 instructions that insn.h names; all others are INSN_OTHER. Needed because
 * VEX's IR does not tell fences or non-temporal stores apart. */
#include "valgrind/common/arch.h"

#include "pub_tool_libcbase.h"

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

/* Gives the length of ModRM, SIB and displacement together. */
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

/* Decodes 0f ae, whose ModRM byte and 66 prefix select a fence or flush. */
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

/* Notes movaps, movapd and movdqa to memory: they store 16 aligned bytes at once, which movups and
 * its kind need not. */
static void decode_aligned(struct insn *insn, UChar op, UChar modrm, Bool has_66)
{
	if (modrm >> 6 == 3 || !(op == 0x29 || (op == 0x7f && has_66)))
		return;
	insn->event = PMT_STORE_VECTOR;
	insn->arg = 16;
}

static void decode_vex(struct insn *insn, const UChar *c)
{
	const Bool is_map_0f = c[0] == 0xc5 || (c[1] & 0x1f) == 1;
	/* bit 2: 32 bytes; bits 0-1: the prefix */
	const UChar *op = c[0] == 0xc5 ? c + 2 : c + 3, lpp = op[-1] & 7;

	if (!is_map_0f)
		return;
	if ((op[0] == 0xe7 || op[0] == 0x2b) && op[1] >> 6 != 3)
		insn->what = INSN_NT_STORE;
	else if (op[0] == 0xf7 && op[1] >> 6 == 3)
		insn->what = INSN_MASK_MOVE;
	else if (lpp <= 1)
		decode_aligned(insn, op[0], op[1], lpp == 1);
}

/* Decodes rep movs and rep stos. */
static void decode_string(struct insn *insn, UChar op, const struct prefixes *p)
{
	if ((op & 0xfe) != 0xa4 && (op & 0xfe) != 0xaa)
		return;
	insn->what = INSN_STRING;
	insn->size_bytes = !(op & 1) ? 1 : insn->rex & 8 ? 8 : p->p66 ? 2 : 4;
	insn->event = PMT_STORE_VECTOR;
	insn->arg = insn->size_bytes;
}

/* Decodes 0f 38: direct stores. */
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

static struct insn decode(Addr pc, const UChar *code)
{
	struct insn insn = { .pc = pc };
	struct prefixes p = read_prefixes(code, &insn);
	const UChar *c = code + p.n;
	Bool is_mem;

	VG_(memcpy)(insn.code, code, sizeof insn.code);
	if (c[0] == 0xc4 || c[0] == 0xc5) {
		decode_vex(&insn, c);
		return insn;
	}
	if (c[0] != 0x0f) {
		if (p.pf2 || p.pf3)
			decode_string(&insn, c[0], &p);
		return insn;
	}
	is_mem = c[2] >> 6 != 3;
	insn.prefix_bytes = p.n + 2;
	switch (c[1]) {
	case 0xae: decode_0fae(&insn, c[2], &p); break;
	case 0xc3:
	case 0xe7:
	case 0x2b: insn.what = is_mem ? INSN_NT_STORE : INSN_OTHER; break;
	case 0xf7: insn.what = !is_mem ? INSN_MASK_MOVE : INSN_OTHER; break;
	/* cldemote */
	case 0x1c:
		insn.what = is_mem && (c[2] >> 3 & 7) == 0 && !p.p66 ? INSN_HINT : INSN_OTHER;
		break;
	case 0x38:
		insn.prefix_bytes = p.n + 3;
		decode_0f38(&insn, c + 2, &p);
		break;
	case 0x29:
	case 0x7f:
		if (!p.pf2 && !p.pf3)
			decode_aligned(&insn, c[1], c[2], p.p66);
		break;
	default: break;
	}
	insn.len_bytes = insn.prefix_bytes + modrm_bytes(code + insn.prefix_bytes);
	return insn;
}

struct insn arch_decode(Addr pc, const UChar *code)
{
	struct insn insn = decode(pc, code);

	if (insn.what == INSN_NT_STORE || insn.what == INSN_DIRECT_STORE ||
	    insn.what == INSN_DIRECT_COPY)
		insn.event = PMT_STORE_NT;
	return insn;
}
