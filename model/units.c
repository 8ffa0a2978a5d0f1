/* Units on arm64: what of a store survives a crash whole or not at all, because the machine performs it as one access. Those of amd64 are in internal.h. */
#include "model/internal.h"

#define LSE2_BYTES 16u

static bool is_inside(const struct trace_event *ev, uint64_t block_bytes)
{
	return ev->addr / block_bytes == (ev->addr + ev->size_bytes - 1) / block_bytes;
}

/* Aligned elements survive on their own, one of 16 bytes as two of 8. Others tear at bytes; with LSE2 only those that leave their block of 16 bytes. Which
 * ones do is not kept: what lies in one block is taken as one unit, which leaves out states. LSE2 is not for elements of 16 bytes. */
static uint8_t elements(const struct model *m, const struct trace_event *ev, uint64_t element_bytes)
{
	uint64_t unit_bytes = element_bytes > 8 ? 8 : element_bytes;

	if (unit_bytes && (unit_bytes & (unit_bytes - 1)) == 0 && ev->addr % unit_bytes == 0)
		return (uint8_t)unit_bytes;
	return m->has_lse2 && element_bytes <= 8 ? LSE2_BYTES : 1;
}

/* Arm's manual, "single-copy atomicity" and its pseudocode Mem[]. */
uint8_t arm64_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	bool is_block = m->has_lse2 && is_inside(ev, LSE2_BYTES);

	if (ev->kind == PMT_STORE_ORDERED || (ev->kind == PMT_STORE_RMW && ev->size_bytes <= 16 && is_inside(ev, PMT_LINE_BYTES)))
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

uint32_t model_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	return store_unit_bytes(m, ev);
}

bool model_is_one_access(const struct model *m, const struct trace_event *ev)
{
	return store_unit_bytes(m, ev) == 0;
}
