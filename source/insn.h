/* An instruction of machine code, with its effect on registers and memory: as much of it as is
 * needed to find the address that a store uses. Registers have DWARF's numbers. Each architecture
 * has its decoder in arch/. */
#ifndef SOURCE_INSN_H
#define SOURCE_INSN_H

#include <stddef.h>
#include <stdint.h>

enum { INSN_NO_REGISTER = -1 };

enum insn_does {
	INSN_OTHER,  /* some other effect; the registers in `writes` become unknown */
	INSN_MOVE,   /* to[0] = from */
	INSN_EXTEND, /* to[0] = some bits of from */
	INSN_SHIFT,  /* to[0] = from << shift */
	INSN_FORM,   /* to[0] = the address `at` */
	INSN_LOAD,   /* to[0], to[1] = 8 bytes each from the address `at` */
	INSN_SAVE,   /* 8 bytes each at the address `at` = saved[0], saved[1] */
	INSN_CALL,
	INSN_JUMP,
};

/* base + index * scale + offset */
struct insn_address {
	int base, index;
	unsigned scale; /* 0 if unknown */
	int64_t offset;
};

struct insn {
	uint64_t pc;
	uint32_t len_bytes;
	enum insn_does does;
	int to[2], saved[2], from;
	unsigned shift;
	struct insn_address at;
	int64_t moves;         /* also added to the base register */
	uint32_t stored_bytes; /* how many bytes are stored at the address; 0 if none */
	uint64_t writes;       /* a bit per register */
	/* of calls and jumps: the destination, or the address of the pointer to it; 0 if unknown */
	uint64_t target, slot;
};

/* The architecture's registers and its calling convention. */
struct insn_machine {
	unsigned elf;  /* EM_… of elf.h */
	uint64_t kept; /* registers that a call preserves, a bit each */
	int result, stack, frame;
	int arguments[8], narguments;
};
extern const struct insn_machine insn_machine;

/* Decodes one instruction. Gives its length, or 0 if it is none. Unused fields are INSN_NO_REGISTER
 * or 0. */
uint32_t insn_decode(struct insn *out, const uint8_t *bytes, size_t len_bytes, uint64_t pc);
/* Gives the slot through which an entry of the procedure linkage table jumps; 0 if the bytes are no
 * such entry. */
uint64_t insn_entry_slot(const uint8_t *bytes, size_t len_bytes, uint64_t pc);

#endif
