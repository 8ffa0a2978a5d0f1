/* One instruction of machine code: where it leads, and whether it changes persistent memory. One
 * file for each machine, in arch/. */
#ifndef EXPLORE_INSN_H
#define EXPLORE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insn {
	uint64_t address, next, target; /* target 0: none that is known */
	uint64_t slot;                  /* address of the pointer that it jumps through; 0: none */
	bool ends, falls;               /* a block ends here; the next instruction may follow */
	bool is_call;
	bool is_indirect; /* a jump to where a register or memory says */
	bool is_pm;       /* a flush, fence or non-temporal store */
	bool is_store;    /* writes to memory */
};

struct insn_set {
	unsigned machine;             /* EM_… of elf.h, as the rest */
	uint32_t jump_slot, glob_dat; /* relocations of a pointer to a function elsewhere: R_… */
	/* why nothing is decoded, and what to do; NULL: it is decoded */
	const char *lack, *todo;
	struct insn (*decode)(const uint8_t *bytes, uint64_t len_bytes, uint64_t address);
};
extern const struct insn_set insn_set; /* of this machine */

#endif
