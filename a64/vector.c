/* Decodes structures of vector registers: ld1 to ld4 and st1 to st4, for whole registers, for one
 * lane, or for one element to all lanes. Each accesses one contiguous piece of memory. */
#include "a64/internal.h"

/* Decodes what is added to the base register afterwards (post-index): an index register or, without
 * one, the number of bytes that were accessed. */
static void post_index(struct a64 *out)
{
	if (out->mode != A64_POST)
		return;
	out->has_index = out->rm != A64_ZERO;
	if (!out->has_index)
		out->offset = (int64_t)out->nregs * out->nelements * out->each_bytes;
}

bool a64_structures(struct a64 *out, uint32_t w)
{
	/* number of registers by opcode; 0: not allocated */
	static const uint8_t nregs[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2
	};
	const uint32_t opcode = BITS(w, 15, 12), size = BITS(w, 11, 10);
	const bool is_plain = opcode & 2; /* ld1 of several registers: elements do not alternate */

	out->nregs = nregs[opcode];
	out->file = A64_VECTOR;
	out->kind = BIT(w, 22) ? A64_LOAD : A64_STORE;
	out->is_structure = true;
	out->each_bytes = (uint8_t)(1u << size);
	out->nelements = (uint8_t)((8u << BIT(w, 30)) >> size);
	post_index(out);
	return out->nregs != 0 && (is_plain || size != 3 || BIT(w, 30));
}

/* Gives the size of the lane in bytes; 0 if there is no such instruction. */
static uint32_t lane_bytes(uint32_t w)
{
	const uint32_t size = BITS(w, 11, 10);

	switch (BITS(w, 15, 14)) {
	case 0: return 1;
	case 1: return size & 1 ? 0 : 2;
	case 2: return size == 0 ? 4 : size == 1 && !BIT(w, 12) ? 8 : 0;
	default: return BIT(w, 22) && !BIT(w, 12) ? 1u << size : 0; /* ld1r … */
	}
}

bool a64_structure(struct a64 *out, uint32_t w)
{
	out->nregs = (uint8_t)(1 + (BIT(w, 13) << 1 | BIT(w, 21)));
	out->file = A64_VECTOR;
	out->kind = BIT(w, 22) ? A64_LOAD : A64_STORE;
	out->is_structure = true;
	out->each_bytes = (uint8_t)lane_bytes(w);
	out->nelements = 1;
	post_index(out);
	return out->each_bytes != 0;
}
