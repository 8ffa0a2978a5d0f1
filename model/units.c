/* Units on arm64: what of a store survives a crash whole or not at all, because the machine performs it as one access. Those of amd64 are in internal.h. */
#include "model/internal.h"

static bool is_inside(const struct trace_event *ev, uint64_t block_bytes)
{
	return ev->addr / block_bytes == (ev->addr + ev->size_bytes - 1) / block_bytes;
}

/* Elements that are aligned; others tear at bytes. */
static uint8_t elements(const struct trace_event *ev, uint64_t element_bytes)
{
	if (element_bytes > 8)
		element_bytes = 8;
	return element_bytes && (element_bytes & (element_bytes - 1)) == 0 && ev->addr % element_bytes == 0 ? (uint8_t)element_bytes : 1;
}

/* Arm's manual, "single-copy atomicity" and its pseudocode Mem[]: a vector of 16 bytes is two accesses of 8, with LSE2 or without. */
uint8_t arm64_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	bool is_block = m->has_lse2 && is_inside(ev, 16);

	if (ev->kind == PMT_STORE_ORDERED || (ev->kind == PMT_STORE_RMW && ev->size_bytes <= 16 && is_inside(ev, PMT_LINE_BYTES)))
		return 0;
	if (ev->kind == PMT_STORE_SYS) /* the kernel copies words */
		return 8;
	if (ev->kind == PMT_STORE_VECTOR)
		return elements(ev, ev->arg[0]);
	if (ev->kind == PMT_STORE_PAIR)
		return is_block ? 0 : elements(ev, ev->size_bytes / 2);
	if (ev->size_bytes <= 8)
		return is_block || ev->addr % ev->size_bytes == 0 ? 0 : 1;
	return elements(ev, 8);
}

uint32_t model_unit_bytes(const struct model *m, const struct trace_event *ev)
{
	return store_unit_bytes(m, ev);
}

bool model_is_one_access(const struct model *m, const struct trace_event *ev)
{
	return store_unit_bytes(m, ev) == 0;
}
