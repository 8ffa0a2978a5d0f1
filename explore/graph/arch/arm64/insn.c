/* Instructions of arm64, decoded by hand: enough to search on such a machine, where the tracer can be built but the recorder cannot (docs/explore.md). */
#include <elf.h>
#include <string.h>

#include "explore/graph/insn.h"

/* A signed field of so many bits from bit `low` on, in instructions. */
static uint64_t displacement(uint32_t w, unsigned low, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)w << (64 - low - bits)) >> (64 - bits)) * 4;
}

/* Data cache maintenance by address, barriers, non-temporal pairs. */
static bool modifies_pm(uint32_t w)
{
	return (w & 0xfff8f000) == 0xd5087000 || (w & 0xfffff0df) == 0xd503309f || (w & 0x3bc00000) == 0x28000000;
}

static bool writes_memory(uint32_t w)
{
	bool is_pair = (w & 0x3a000000) == 0x28000000, is_single = (w & 0x3a000000) == 0x38000000;

	return (is_pair && !(w & 1u << 22)) || (is_single && !(w & 3u << 22));
}

static struct insn decode(const uint8_t *bytes, uint64_t len_bytes, uint64_t address)
{
	struct insn i = { .address = address, .next = address + 4, .falls = true };
	uint32_t w;

	if (len_bytes < sizeof w)
		return i;
	memcpy(&w, bytes, sizeof w);
	i.is_pm = modifies_pm(w);
	i.is_store = writes_memory(w);
	if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
		i.ends = true;
		i.falls = w >> 31;
		i.target = address + displacement(w, 0, 26);
	} else if ((w & 0xff000010) == 0x54000000 || (w & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
		i.ends = true;
		i.target = address + displacement(w, 5, 19);
	} else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		i.ends = true;
		i.target = address + displacement(w, 5, 14);
	} else if ((w & 0xfe000000) == 0xd6000000) { /* br, blr, ret */
		i.ends = true;
		i.falls = (w & 0xfffffc1f) == 0xd63f0000;
		i.is_indirect = (w & 0xfffffc1f) == 0xd61f0000;
	}
	return i;
}

const struct insn_set insn_set_arm64 = {
	.machine = EM_AARCH64,
	.jump_slot = R_AARCH64_JUMP_SLOT,
	.glob_dat = R_AARCH64_GLOB_DAT,
	.decode = decode,
};
