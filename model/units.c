/* Decides units: which bytes of a store survive a crash together, because the machine performs them
 * as one access. Where the manuals of Intel and AMD differ, the platform says which one counts. */
#include "model/internal.h"

#define LSE2_BYTES 16u

static bool is_inside(const struct trace_event *ev, uint64_t block_bytes)
{
	return ev->addr / block_bytes == (ev->addr + ev->size_bytes - 1) / block_bytes;
}

/* Gives the size of the units of a store of elements. Aligned elements survive by themselves, one
 * of 16 bytes as two of 8. Others tear at bytes; with LSE2 only those that cross a block of 16
 * bytes. Which ones cross is not kept: everything in one block counts as one unit, which leaves out
 * states. LSE2 does not cover elements of 16 bytes. */
static uint8_t elements(const struct model *m, const struct trace_event *ev, uint64_t element_bytes)
{
	uint64_t unit_bytes = element_bytes > 8 ? 8 : element_bytes;

	if (unit_bytes && (unit_bytes & (unit_bytes - 1)) == 0 && ev->addr % unit_bytes == 0)
		return (uint8_t)unit_bytes;
	return m->has_lse2 && element_bytes <= 8 ? LSE2_BYTES : 1;
}

/* Gives the size of the units of an arm64 store, by Arm's manual, "single-copy atomicity", and its
 * pseudocode Mem[]. */
uint8_t arm64_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	bool is_block = m->has_lse2 && is_inside(ev, LSE2_BYTES);

	if (ev->kind == PMT_STORE_ORDERED ||
	    (ev->kind == PMT_STORE_RMW && ev->size_bytes <= 16 && is_inside(ev, PMT_LINE_BYTES)))
		return 0;
	if (ev->kind == PMT_STORE_SYS) /* the kernel copies words */
		return 8;
	if (ev->kind == PMT_STORE_VECTOR)
		return elements(m, ev, ev->arg[0]);
	if (ev->kind == PMT_STORE_PAIR)
		return is_block ? 0 : elements(m, ev, ev->size_bytes / 2);
	if (ev->size_bytes <= 8)
		return is_block || ev->addr % ev->size_bytes == 0 ? 0 : 1;
	return elements(m, ev, 16);
}

#define WORD_BYTES 8u
#define LISTED_UNITS 16u /* of one store, in a line that is too long for partial.c */

/* Gives the size of the units of a string instruction (rep movs, rep stos), whose elements are
 * stored in any order. A vector register of 16 bytes is one element. */
static uint8_t x86_elements(const struct platform *p, const struct trace_event *ev)
{
	uint64_t unit_bytes = ev->arg[0] && ev->arg[0] < WORD_BYTES ? ev->arg[0] : WORD_BYTES;

	if (ev->arg[0] == 16 && ev->size_bytes == 16 && ev->addr % 16 == 0)
		return 0;
	if (ev->size_bytes <= unit_bytes && is_inside(ev, WORD_BYTES))
		return 0;
	while (unit_bytes & (unit_bytes - 1))
		unit_bytes++;
	while (p->line_bytes > PMT_LINE_BYTES && ev->size_bytes > LISTED_UNITS * unit_bytes)
		unit_bytes *= 2;
	return (uint8_t)unit_bytes;
}

/* Gives the size of the units of an x86 store, by Intel's manual, volume 3A, "Guaranteed Atomic
 * Operations", and AMD's, volume 2, "Access Atomicity". */
uint8_t x86_unit_bytes(const struct platform *p, const struct trace_event *ev)
{
	const bool is_line = is_inside(ev, PMT_LINE_BYTES);

	if (ev->kind == PMT_STORE_VECTOR)
		return x86_elements(p, ev);
	if (is_inside(ev, WORD_BYTES) ||
	    (is_line && ev->size_bytes <= WORD_BYTES && p->units == UNITS_INTEL))
		return 0;
	if (is_line && ((ev->kind == PMT_STORE_RMW && ev->size_bytes <= 16) ||
			(ev->kind == PMT_STORE_NT && ev->size_bytes == 64)))
		return 0;
	return p->units == UNITS_AMD && ev->kind == PMT_STORE && ev->size_bytes == 16 &&
			       ev->addr % 16 == 0
		       ? 0
		       : WORD_BYTES;
}

uint32_t model_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	return store_unit_bytes(m, ev);
}

bool model_is_one_access(const struct model *m, const struct trace_event *ev)
{
	return store_unit_bytes(m, ev) == 0;
}
