/* Decodes A64 instructions that access memory, with a table of encodings: the fixed bits, and a
 * rule for the other bits. The first row that fits decides; its rule refuses what is not allocated.
 * Bits that should be one or zero must be so. */
#include "a64/internal.h"

#include <stddef.h>

/* One encoding: its fixed bits, its addressing mode, and the function that decodes the rest. */
struct row {
	uint32_t mask, value;
	enum a64_mode mode;
	bool (*rule)(struct a64 *, uint32_t word);
};

/* ---- one register ---- */

/* Decodes size, V and opc of an instruction that loads or stores one register. */
static bool single_size(struct a64 *out, uint32_t w)
{
	const uint32_t size = BITS(w, 31, 30), opc = BITS(w, 23, 22);

	out->nregs = 1;
	if (BIT(w, 26)) {
		if (opc > 1 && size != 0)
			return false;
		out->file = A64_VECTOR;
		out->each_bytes = opc > 1 ? 16 : 1u << size;
		out->kind = opc & 1 ? A64_LOAD : A64_STORE;
		return true;
	}
	if ((opc == 3 && size > 1) || (opc == 2 && size == 3))
		return false;
	out->each_bytes = 1u << size;
	out->kind = opc == 0 ? A64_STORE : A64_LOAD;
	out->is_signed = opc > 1;
	out->to_bytes = opc == 2 || size == 3 ? 8 : 4;
	return true;
}

static bool is_prefetch(struct a64 *out, uint32_t w)
{
	if (BITS(w, 31, 22) != 0x3e2 && BITS(w, 31, 22) != 0x3e6)
		return false;
	out->kind = A64_PREFETCH;
	return true;
}

static bool single_unscaled(struct a64 *out, uint32_t w)
{
	out->offset = sign_extend(BITS(w, 20, 12), 9);
	return (out->mode == A64_OFFSET && BITS(w, 11, 10) == 0 && is_prefetch(out, w)) ||
	       single_size(out, w);
}

static bool single_scaled(struct a64 *out, uint32_t w)
{
	if (is_prefetch(out, w)) {
		out->offset = (int64_t)BITS(w, 21, 10) * 8;
		return true;
	}
	if (!single_size(out, w))
		return false;
	out->offset = (int64_t)BITS(w, 21, 10) * out->each_bytes;
	return true;
}

static uint8_t log2_of(uint32_t n)
{
	uint8_t i = 0;

	while (n >>= 1)
		i++;
	return i;
}

static bool single_index(struct a64 *out, uint32_t w)
{
	out->has_index = true;
	out->extend = (uint8_t)BITS(w, 15, 13);
	if (!(out->extend & 2))
		return false;
	if (is_prefetch(out, w)) {
		out->shift = BIT(w, 12) ? 3 : 0;
		return true;
	}
	if (!single_size(out, w))
		return false;
	out->shift = BIT(w, 12) ? log2_of(out->each_bytes) : 0;
	return true;
}

static bool literal(struct a64 *out, uint32_t w)
{
	const uint32_t opc = BITS(w, 31, 30);

	out->rn = 0;
	out->nregs = 1;
	out->offset = sign_extend(BITS(w, 23, 5), 19) * 4;
	out->kind = A64_LOAD;
	if (BIT(w, 26)) {
		out->file = A64_VECTOR;
		out->each_bytes = (uint8_t)(4u << opc);
		return opc != 3;
	}
	if (opc == 3) {
		out->kind = A64_PREFETCH;
		out->nregs = 0;
		return true;
	}
	out->each_bytes = opc == 1 ? 8 : 4;
	out->to_bytes = opc == 0 ? 4 : 8;
	out->is_signed = opc == 2;
	return true;
}

/* Decodes ldapur and stlur. */
static bool ordered_unscaled(struct a64 *out, uint32_t w)
{
	if (!single_size(out, w))
		return false;
	out->offset = sign_extend(BITS(w, 20, 12), 9);
	out->acquires = out->kind == A64_LOAD;
	out->releases = out->kind == A64_STORE;
	return true;
}

/* ---- pairs ---- */

static bool pair(struct a64 *out, uint32_t w)
{
	const uint32_t opc = BITS(w, 31, 30);

	out->nregs = 2;
	out->rt2 = (uint8_t)BITS(w, 14, 10);
	out->kind = BIT(w, 22) ? A64_LOAD : A64_STORE;
	out->is_hinted = BITS(w, 24, 23) == 0;
	if (BIT(w, 26)) {
		out->file = A64_VECTOR;
		out->each_bytes = (uint8_t)(4u << opc);
	} else {
		out->each_bytes = opc == 2 ? 8 : 4;
		out->to_bytes = opc == 0 ? 4 : 8;
		out->is_signed = opc == 1;
		/* stgp also writes memory tags */
		if (opc == 1 && (out->kind == A64_STORE || out->is_hinted))
			return false;
	}
	out->offset = sign_extend(BITS(w, 21, 15), 7) * out->each_bytes;
	return opc != 3;
}

/* ---- exclusive, ordered and atomic accesses ---- */

static void general(struct a64 *out, enum a64_kind kind, uint32_t nregs, uint32_t each_bytes)
{
	out->kind = kind;
	out->nregs = (uint8_t)nregs;
	out->each_bytes = (uint8_t)each_bytes;
	out->to_bytes = each_bytes == 8 ? 8 : 4;
}

static bool exclusive(struct a64 *out, uint32_t w)
{
	const bool is_pair = BIT(w, 21), is_load = BIT(w, 22);

	general(out, is_load ? A64_LOAD_EXCLUSIVE : A64_STORE_EXCLUSIVE, is_pair ? 2 : 1,
		is_pair ? 4u << BIT(w, 30) : 1u << BITS(w, 31, 30));
	out->rt2 = (uint8_t)BITS(w, 14, 10);
	out->acquires = is_load && BIT(w, 15);
	out->releases = !is_load && BIT(w, 15);
	return true;
}

/* Decodes ldar and stlr, and their forms ldlar and stllr for limited ordering regions. */
static bool ordered(struct a64 *out, uint32_t w)
{
	general(out, BIT(w, 22) ? A64_LOAD : A64_STORE, 1, 1u << BITS(w, 31, 30));
	out->acquires = BIT(w, 22);
	out->releases = !BIT(w, 22);
	return true;
}

static bool compare_swap(struct a64 *out, uint32_t w)
{
	general(out, A64_ATOMIC, 1, 1u << BITS(w, 31, 30));
	out->acquires = BIT(w, 22);
	out->releases = BIT(w, 15);
	return true;
}

static bool compare_swap_pair(struct a64 *out, uint32_t w)
{
	general(out, A64_ATOMIC, 2, 4u << BIT(w, 30));
	out->rt2 = out->rt + 1;
	out->acquires = BIT(w, 22);
	out->releases = BIT(w, 15);
	return !(out->rt & 1) && !(out->rs & 1);
}

static bool atomic(struct a64 *out, uint32_t w)
{
	general(out, A64_ATOMIC, 1, 1u << BITS(w, 31, 30));
	/* with the zero register as the result, acquire has no effect */
	out->acquires = BIT(w, 23) && out->rt != A64_ZERO;
	out->releases = BIT(w, 22);
	return true;
}

static bool load_acquire_pc(struct a64 *out, uint32_t w)
{
	general(out, A64_LOAD, 1, 1u << BITS(w, 31, 30));
	out->acquires = true;
	return true;
}

/* ---- the data cache ---- */

static bool flush(struct a64 *out, uint32_t w)
{
	out->kind = A64_FLUSH;
	out->rn = (uint8_t)BITS(w, 4, 0);
	return true;
}

static bool clear(struct a64 *out, uint32_t w)
{
	out->kind = A64_CLEAR;
	out->rn = (uint8_t)BITS(w, 4, 0);
	return true;
}

/* ---- all ---- */

static const struct row rows[] = {
	/* vector structures: see vector.c */
	{ 0xbfbf0000, 0x0c000000, A64_OFFSET, a64_structures }, /* ld1 … ld4, st1 … st4 */
	{ 0xbfa00000, 0x0c800000, A64_POST, a64_structures },
	/* a single lane, or one element to all lanes */
	{ 0xbf9f0000, 0x0d000000, A64_OFFSET, a64_structure },
	{ 0xbf800000, 0x0d800000, A64_POST, a64_structure },

	{ 0x3fe07c00, 0x08007c00, A64_OFFSET, exclusive },         /* stxr, stlxr */
	{ 0x3fff7c00, 0x085f7c00, A64_OFFSET, exclusive },         /* ldxr, ldaxr */
	{ 0xbfe00000, 0x88200000, A64_OFFSET, exclusive },         /* stxp, stlxp */
	{ 0xbfff0000, 0x887f0000, A64_OFFSET, exclusive },         /* ldxp, ldaxp */
	{ 0x3fff7c00, 0x089f7c00, A64_OFFSET, ordered },           /* stlr, stllr */
	{ 0x3fff7c00, 0x08df7c00, A64_OFFSET, ordered },           /* ldar, ldlar */
	{ 0x3fa07c00, 0x08a07c00, A64_OFFSET, compare_swap },      /* cas… */
	{ 0xbfa07c00, 0x08207c00, A64_OFFSET, compare_swap_pair }, /* casp… */
	{ 0x3f200c00, 0x19000000, A64_OFFSET, ordered_unscaled },  /* ldapur, stlur */

	{ 0x3b000000, 0x18000000, A64_LITERAL, literal }, /* ldr, ldrsw, prfm (literal) */

	{ 0x3b800000, 0x28000000, A64_OFFSET, pair }, /* ldnp, stnp */
	{ 0x3b800000, 0x28800000, A64_POST, pair },   /* ldp, stp, ldpsw */
	{ 0x3b800000, 0x29000000, A64_OFFSET, pair },
	{ 0x3b800000, 0x29800000, A64_PRE, pair },

	{ 0x3b200c00, 0x38000000, A64_OFFSET, single_unscaled }, /* ldur, stur, prfum */
	{ 0x3b200c00, 0x38000400, A64_POST, single_unscaled },   /* ldr, str */
	{ 0x3f200c00, 0x38000800, A64_OFFSET, single_unscaled }, /* ldtr, sttr */
	{ 0x3b200c00, 0x38000c00, A64_PRE, single_unscaled },
	{ 0x3b200c00, 0x38200800, A64_INDEX, single_index },
	{ 0x3b000000, 0x39000000, A64_OFFSET, single_scaled },

	{ 0x3ffffc00, 0x38bfc000, A64_OFFSET, load_acquire_pc }, /* ldapr */
	{ 0x3f20fc00, 0x38208000, A64_OFFSET, atomic },          /* swp */
	/* ldadd, ldclr, ldeor, ldset, ldsmax, ldsmin, ldumax, ldumin */
	{ 0x3f208c00, 0x38200000, A64_OFFSET, atomic },

	{ 0xffffffe0, 0xd50b7420, A64_OFFSET, clear }, /* dc zva */
	{ 0xffffffe0, 0xd50b7a20, A64_OFFSET, flush }, /* dc cvac */
	{ 0xffffffe0, 0xd50b7b20, A64_OFFSET, flush }, /* dc cvau */
	{ 0xffffffe0, 0xd50b7c20, A64_OFFSET, flush }, /* dc cvap */
	{ 0xffffffe0, 0xd50b7d20, A64_OFFSET, flush }, /* dc cvadp */
	{ 0xffffffe0, 0xd50b7e20, A64_OFFSET, flush }, /* dc civac */

	/* SVE: see scalable.c */
	{ 0xffc0e000, 0x85804000, A64_OFFSET, a64_whole },           /* ldr z */
	{ 0xffc0e010, 0x85800000, A64_OFFSET, a64_whole },           /* ldr p */
	{ 0xffc0e000, 0xe5804000, A64_OFFSET, a64_whole },           /* str z */
	{ 0xffc0e010, 0xe5800000, A64_OFFSET, a64_whole },           /* str p */
	{ 0xfe408000, 0x84408000, A64_OFFSET, a64_replicate },       /* ld1r… */
	{ 0xfe10e000, 0xa400a000, A64_OFFSET, a64_contiguous_load }, /* ld1… */
	{ 0xfe10e000, 0xa410a000, A64_OFFSET, a64_contiguous_load }, /* ldnf1… */
	{ 0xfe00e000, 0xa4004000, A64_INDEX, a64_contiguous_load },  /* ld1… */
	{ 0xfe00e000, 0xa4006000, A64_INDEX, a64_contiguous_load },  /* ldff1… */
	{ 0xfe10e000, 0xa400e000, A64_OFFSET, a64_interleaved },     /* ldnt1, ld2 … ld4 */
	{ 0xfe00e000, 0xa400c000, A64_INDEX, a64_interleaved },
	{ 0xfe50e000, 0xa4002000, A64_OFFSET, a64_quadword }, /* ld1rq, ld1ro */
	{ 0xfe40e000, 0xa4000000, A64_INDEX, a64_quadword },
	{ 0xfe10e000, 0xe400e000, A64_OFFSET, a64_contiguous_store }, /* st1 */
	{ 0xfe00e000, 0xe4004000, A64_INDEX, a64_contiguous_store },
	{ 0xfe10e000, 0xe410e000, A64_OFFSET, a64_interleaved }, /* stnt1, st2 … st4 */
	{ 0xfe00e000, 0xe4006000, A64_INDEX, a64_interleaved },
};

void a64_decode(struct a64 *out, uint32_t word)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if ((word & rows[i].mask) != rows[i].value)
			continue;
		*out = (struct a64){ .mode = rows[i].mode,
				     .rt = (uint8_t)BITS(word, 4, 0),
				     .rn = (uint8_t)BITS(word, 9, 5),
				     .rm = (uint8_t)BITS(word, 20, 16),
				     .rs = (uint8_t)BITS(word, 20, 16) };
		if (rows[i].rule(out, word))
			return;
		break;
	}
	*out = (struct a64){ .kind = A64_OTHER };
}

uint32_t a64_bytes(const struct a64 *in, uint32_t vector_bytes, uint32_t clear_bytes)
{
	switch (in->kind) {
	case A64_OTHER:
	case A64_PREFETCH:
	case A64_FLUSH: return 0;
	case A64_CLEAR: return clear_bytes;
	case A64_LOAD:
	case A64_STORE:
	case A64_LOAD_EXCLUSIVE:
	case A64_STORE_EXCLUSIVE:
	case A64_ATOMIC: break;
	}
	switch (in->file) {
	case A64_PREDICATE: return vector_bytes / 8;
	case A64_SCALABLE:
		if (in->element_bytes == 0)
			return vector_bytes;
		return (in->nelements ? in->nelements : vector_bytes / in->element_bytes) *
		       in->nregs * in->each_bytes;
	case A64_GENERAL:
	case A64_VECTOR: break;
	}
	return in->nregs * in->each_bytes * (in->is_structure ? in->nelements : 1u);
}
