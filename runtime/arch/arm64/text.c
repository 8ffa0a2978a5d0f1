/* Distinguishes calls from literals that look like one. A literal is behind a branch, where
 * execution does not come by itself, and some instruction names it by its distance. Both are
 * required: other data may look like such an instruction. */
#include "gate.h"

/* Asks whether execution never continues behind the instruction: b, br, ret (with and without
 * authentication), brk, udf. */
static bool ends_flow(uint32_t word)
{
	return (word & 0xfc000000) == 0x14000000 || (word & 0xfe9ff000) == 0xd61f0000 ||
	       (word & 0xffe0001f) == 0xd4200000 || word >> 16 == 0;
}

/* Returns the number of words that the instruction names, if it is ldr (literal) of any register or
 * adr, and sets their distance; 0: it is another instruction. */
static uint32_t named(uint32_t word, long *distance)
{
	const uint32_t opc = word >> 30;

	*distance = (int32_t)(word << 8) >> 13;
	if ((word & 0x9f000000) == 0x10000000)
		return opc & 1 || word >> 29 & 1 ? 0 : 1; /* adr counts if it names a whole word */
	if ((word & 0x3b000000) != 0x18000000)
		return 0;
	if (word >> 26 & 1)
		return 1u << opc;               /* a vector register */
	return opc == 3 ? 0 : opc == 1 ? 2 : 1; /* opc 3 is a prefetch */
}

static bool is_named(const uint32_t *start, const uint32_t *end, const uint32_t *at)
{
	for (const uint32_t *w = start; w < end; w++) {
		long distance;
		const uint32_t n = named(*w, &distance);

		if (n && at - w >= distance && at - w < distance + n)
			return true;
	}
	return false;
}

bool text_has_named_call(const uint32_t *start, const uint32_t *end)
{
	for (const uint32_t *w = start; w < end; w++) {
		long distance;
		const uint32_t n = named(*w, &distance);

		for (uint32_t i = 0; i < n; i++)
			if (start - w <= distance + i && distance + i < end - w &&
			    w[distance + i] == SVC)
				return true;
	}
	return false;
}

/* Asks whether the word at `at` is a literal: it is behind a branch, perhaps with other literals
 * between them, and some instruction names it. */
bool text_is_literal(const uint32_t *start, const uint32_t *end, const uint32_t *at)
{
	if (!is_named(start, end, at))
		return false;
	for (const uint32_t *before = at - 1; before >= start; before--) {
		if (ends_flow(*before))
			return true;
		if (!is_named(start, end, before))
			return false;
	}
	return false;
}
