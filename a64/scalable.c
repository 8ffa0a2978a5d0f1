/* Decodes SVE loads and stores of one contiguous piece of memory, from which a predicate may leave
 * out elements. Gathers, scatters and everything after SVE2 are not decoded. */
#include "a64/internal.h"

static void offset_or_index(struct a64 *out, uint32_t w)
{
	if (out->mode == A64_INDEX) {
		out->has_index = true;
		out->extend = 3;
		for (uint32_t n = out->each_bytes; n > 1; n >>= 1)
			out->shift++;
	} else {
		out->offset = sign_extend(BITS(w, 19, 16), 4);
		out->is_vector_multiple = true;
	}
}

/* Sets the fields of an access to elements: each_bytes in memory, element_bytes in the register. */
static void elements(struct a64 *out, uint32_t w, uint32_t each_bytes, uint32_t element_bytes,
		     uint32_t nregs)
{
	out->file = A64_SCALABLE;
	out->kind = BIT(w, 30) ? A64_STORE : A64_LOAD;
	out->pg = (uint8_t)BITS(w, 12, 10);
	out->nregs = (uint8_t)nregs;
	out->is_structure = nregs > 1;
	out->each_bytes = (uint8_t)each_bytes;
	out->element_bytes = (uint8_t)element_bytes;
	offset_or_index(out, w);
}

/* By dtype: bytes in memory, bytes in the register, and whether they are sign-extended. */
static const struct {
	uint8_t each_bytes, element_bytes;
	bool is_signed;
} types[16] = {
	{ 1, 1, false }, { 1, 2, false }, { 1, 4, false }, { 1, 8, false },
	{ 4, 8, true },  { 2, 2, false }, { 2, 4, false }, { 2, 8, false },
	{ 2, 8, true },  { 2, 4, true },  { 4, 4, false }, { 4, 8, false },
	{ 1, 8, true },  { 1, 4, true },  { 1, 2, true },  { 8, 8, false },
};

bool a64_contiguous_load(struct a64 *out, uint32_t w)
{
	const uint32_t type = BITS(w, 24, 21);
	const bool is_first_fault = BITS(w, 15, 13) == 3;

	elements(out, w, types[type].each_bytes, types[type].element_bytes, 1);
	out->is_signed = types[type].is_signed;
	if (is_first_fault && out->rm == A64_ZERO) { /* register 31 means no index */
		out->mode = A64_OFFSET;
		out->has_index = false;
	}
	return out->mode != A64_INDEX || out->rm != A64_ZERO;
}

bool a64_contiguous_store(struct a64 *out, uint32_t w)
{
	const uint32_t size = BITS(w, 22, 21), memory_size = BITS(w, 24, 23);

	elements(out, w, 1u << memory_size, 1u << size, 1);
	return size >= memory_size && (out->mode != A64_INDEX || out->rm != A64_ZERO);
}

bool a64_interleaved(struct a64 *out, uint32_t w)
{
	const uint32_t nregs = BITS(w, 22, 21) + 1, bytes = 1u << BITS(w, 24, 23);

	elements(out, w, bytes, bytes, nregs);
	out->is_hinted = nregs == 1;
	return out->mode != A64_INDEX || out->rm != A64_ZERO;
}

/* Loads one element to all lanes. */
bool a64_replicate(struct a64 *out, uint32_t w)
{
	const uint32_t type = BITS(w, 24, 23) << 2 | BITS(w, 14, 13);

	elements(out, w, types[type].each_bytes, types[type].element_bytes, 1);
	out->is_signed = types[type].is_signed;
	out->is_structure = true;
	out->nelements = 1;
	out->is_vector_multiple = false;
	out->offset = (int64_t)BITS(w, 21, 16) * out->each_bytes;
	return true;
}

/* Loads 16 or 32 bytes that fill all parts of the register of that size. */
bool a64_quadword(struct a64 *out, uint32_t w)
{
	const uint32_t bytes = 1u << BITS(w, 24, 23), all = BIT(w, 21) ? 32 : 16;

	elements(out, w, bytes, bytes, 1);
	out->is_structure = true;
	out->nelements = (uint8_t)(all / bytes);
	out->is_vector_multiple = false;
	out->offset *= all;
	return out->mode != A64_INDEX || out->rm != A64_ZERO;
}

bool a64_whole(struct a64 *out, uint32_t w)
{
	out->file = BIT(w, 14) ? A64_SCALABLE : A64_PREDICATE;
	out->kind = BIT(w, 30) ? A64_STORE : A64_LOAD;
	out->nregs = 1;
	out->rt = (uint8_t)BITS(w, 4, 0);
	out->offset = sign_extend(BITS(w, 21, 16) << 3 | BITS(w, 12, 10), 9);
	out->is_vector_multiple = true;
	return true;
}
