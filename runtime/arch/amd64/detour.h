/* Detours. A page with something undecided is closed, and whoever reads what lies beside it faults
 * again and again. Between two runs, the fork server leads loads that did so around that: their
 * first five bytes become a jump to a piece of code that looks at the address. Unless it is one of
 * undecided or watched words, it loads through a second mapping of the image, which is never
 * closed; else it does what the program wanted to do, at the address where it wanted to, and
 * faults.
 *
 *   detour.c       which instructions, and where the code goes
 *   detour_scan.c  whether anybody jumps into the bytes that the jump takes
 *   detour_emit.c  the code
 *   ../../window.c in a run: the second mapping, and which words of it are not to be read there
 *
 * Only loads: stores must be marked. Only code of the server's own objects: a run inherits it, and
 * what it executes instead does not. */
#ifndef RUNTIME_ARCH_AMD64_DETOUR_H
#define RUNTIME_ARCH_AMD64_DETOUR_H

#include <Zydis/Zydis.h>

#include "internal.h"

#define JUMP_BYTES 5u
#define AREA_BYTES 65536u
#define AREA_CODE PAGE /* code begins here, after the window */
#define AREAS 4u
#define DETOURS 512u
#define GROUP_MAX 5u /* instructions that one jump replaces */
#define GROUP_BYTES 20u
#define STUB_BYTES 192u /* at most, for one instruction */

struct instruction {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t pc;
	const uint8_t *bytes;
	/* the memory that it reads, and that it can read elsewhere; NULL: none */
	const ZydisDecodedOperand *load;
};

/* Of one instruction in a detour. */
struct detour_part {
	uint64_t original;
	uint64_t begin, end; /* all of its code */
	uint64_t fast, slow; /* the load elsewhere, if there is one; the instruction as it was */
	/* number of the register that the load elsewhere uses, which is saved on top of the
	 * stack */
	uint8_t address;
};

/* Code for a group of instructions that come one after the other, at `at`; how many bytes, 0: there
 * is no room. */
struct emitter {
	uint8_t *at, *end;
	const struct window *window; /* of this area */
	struct detour_part *parts;   /* GROUP_MAX */
};
bool emit_group(struct emitter *e, const struct instruction *list, uint32_t n);

/* Whether nobody but the instruction before comes to the instructions from the second on. bytes: of
 * the function, as they were. */
bool scan_is_private(const struct instruction *list, uint32_t n, uint64_t function,
		     const uint8_t *bytes, uint64_t len_bytes);

#endif
