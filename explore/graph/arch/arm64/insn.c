/* Decodes arm64 instructions: where they lead (here), and what they do to memory (a64/). An entry
 * of the procedure linkage table counts as one instruction, because only its four instructions
 * together tell through which slot it jumps. */
#include <elf.h>
#include <string.h>

#include "a64/a64.h"
#include "explore/graph/insn.h"

/* Asks whether the instruction is a dsb. A dmb does not count: locks and atomics are full of dmb,
 * and the C library would seem to modify PM. */
static bool is_barrier(uint32_t w)
{
	return (w & 0xfffff0ff) == 0xd503309f;
}

/* Gives the slot of an entry of the procedure linkage table: adrp x16, page; ldr x17, [x16,
 * #offset]; add x16, x16, #offset; br x17. 0 if it is no such entry. */
static uint64_t entry_slot(const uint32_t *w, uint64_t address)
{
	uint64_t page = (address & ~0xfffull) +
			((uint64_t)a64_field(w[0], 5, 19) << 14 | (uint64_t)(w[0] >> 29 & 3) << 12);

	if ((w[0] & 0x9f00001f) != 0x90000010 || (w[1] & 0xffc003ff) != 0xf9400211 ||
	    (w[2] & 0xffc003ff) != 0x91000210 || w[3] != 0xd61f0220)
		return 0;
	return page + (w[1] >> 10 & 0xfff) * 8;
}

static struct insn decode(const uint8_t *bytes, uint64_t len_bytes, uint64_t address)
{
	struct insn i = { .address = address, .next = address + 4, .falls = true };
	uint32_t words[4], w;
	struct a64 memory;

	if (len_bytes < sizeof w)
		return i;
	memcpy(&w, bytes, sizeof w);
	if (len_bytes >= sizeof words) {
		memcpy(words, bytes, sizeof words);
		i.slot = entry_slot(words, address);
	}
	if (i.slot) {
		i.next = address + sizeof words;
		i.ends = true;
		i.falls = false;
		return i;
	}
	a64_decode(&memory, w);
	i.is_store = a64_writes(&memory);
	i.is_pm = memory.kind == A64_FLUSH || is_barrier(w) || (i.is_store && memory.is_hinted);
	if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
		i.ends = true;
		i.falls = i.is_call = w >> 31;
		i.target = address + (uint64_t)a64_field(w, 0, 26) * 4;
	} else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
		/* b.cond, bc.cond, cbz, cbnz */
		i.ends = true;
		i.target = address + (uint64_t)a64_field(w, 5, 19) * 4;
	} else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		i.ends = true;
		i.target = address + (uint64_t)a64_field(w, 5, 14) * 4;
		/* br, blr, ret, also with pointer authentication */
	} else if ((w & 0xfe000000) == 0xd6000000) {
		i.ends = true;
		i.falls = i.is_call = (w & 0x00600000) == 0x00200000;
		i.is_indirect = (w & 0x00600000) == 0;
	} else if ((w & 0xffff0000) == 0 || (w & 0xffe0001f) == 0xd4200000) { /* udf, brk */
		i.ends = true;
		i.falls = false;
	}
	return i;
}

const struct insn_set insn_set = {
	.machine = EM_AARCH64,
	.jump_slot = R_AARCH64_JUMP_SLOT,
	.glob_dat = R_AARCH64_GLOB_DAT,
	.decode = decode,
};
