/* Describes an instruction of machine code: where it leads, and whether it modifies persistent
 * memory. Each architecture has its decoder in arch/. */
#ifndef EXPLORE_INSN_H
#define EXPLORE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insn {
	uint64_t address, next, target; /* target is 0 if there is none, or it is unknown */
	/* address of the pointer through which it jumps; 0 if none */
	uint64_t slot;
	/* ends: a block ends here; falls: the next instruction may follow */
	bool ends, falls;
	bool is_call;
	bool is_indirect; /* a jump through a register or other memory */
	bool is_pm;       /* a flush, fence or non-temporal store */
	bool is_store;    /* writes to memory */
};

struct insn_set {
	unsigned machine; /* EM_… of elf.h */
	/* relocation types (R_…) of pointers to functions in other objects */
	uint32_t jump_slot, glob_dat;
	/* why no code can be decoded, and how to change that; NULL if it can */
	const char *lack, *todo;
	struct insn (*decode)(const uint8_t *bytes, uint64_t len_bytes, uint64_t address);
};
extern const struct insn_set insn_set; /* that of this machine */

#endif
