/* One instruction of machine code: what it does to registers and memory, as far as that tells which
 * address it stores to. Registers have DWARF's numbers. One file for each machine, in arch/. */
#ifndef SOURCE_INSN_H
#define SOURCE_INSN_H

#include <stddef.h>
#include <stdint.h>

enum { INSN_NO_REGISTER = -1 };

enum insn_does {
	INSN_OTHER,  /* not known what, with the registers that it writes */
	INSN_MOVE,   /* to[0] = from */
	INSN_EXTEND, /* to[0] = from, of which fewer bits are used */
	INSN_SHIFT,  /* to[0] = from << shift */
	INSN_FORM,   /* to[0] = the address */
	INSN_LOAD,   /* to[0], to[1] = what is at the address, 8 bytes each */
	INSN_SAVE,   /* what is at the address = saved[0], saved[1], 8 bytes each */
	INSN_CALL,
	INSN_JUMP,
};

/* base + index * scale + offset */
struct insn_address {
	int base, index;
	unsigned scale; /* 0: not known */
	int64_t offset;
};

struct insn {
	uint64_t pc;
	uint32_t len_bytes;
	enum insn_does does;
	int to[2], saved[2], from;
	unsigned shift;
	struct insn_address at;
	int64_t moves;         /* so much is added to the base, too */
	uint32_t stored_bytes; /* at the address; 0: none */
	uint64_t writes;       /* registers, a bit each */
	/* of calls and jumps: where to, or where the pointer to it is; 0: not known */
	uint64_t target, slot;
};

/* What the architecture has, and its rules of calls. */
struct insn_machine {
	unsigned elf;  /* EM_… of elf.h */
	uint64_t kept; /* registers that calls leave alone, a bit each */
	int result, stack, frame;
	int arguments[8], narguments;
};
extern const struct insn_machine insn_machine;

/* The length, or 0 if it is none. What is not used has INSN_NO_REGISTER or 0. */
uint32_t insn_decode(struct insn *out, const uint8_t *bytes, size_t len_bytes, uint64_t pc);
/* The slot that an entry of the procedure linkage table jumps through; 0: this is none. */
uint64_t insn_entry_slot(const uint8_t *bytes, size_t len_bytes, uint64_t pc);

#endif
