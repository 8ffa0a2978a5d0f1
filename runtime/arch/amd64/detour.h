/* Detours. A page with undecided bytes is closed, so a load of other bytes of this page faults,
 * too, again and again. Between two runs, the fork server changes such loads: their first five
 * bytes become a jump to generated code. This code looks at the address. If the word is neither
 * undecided nor watched, it loads from a second mapping of the image, which is never closed.
 * Otherwise it executes the original instruction at the original address, which faults.
 *
 *   detour.c       which instructions, and where the code goes
 *   detour_scan.c  whether any jump leads into the bytes that are replaced
 *   detour_emit.c  the generated code
 *   ../../window.c in a run: the second mapping, and words that must not be read there
 *
 * Only loads have detours: stores must be marked. Only code of objects that the server has loaded
 * is changed: runs inherit it, but not programs that a run execs. */
#ifndef RUNTIME_ARCH_AMD64_DETOUR_H
#define RUNTIME_ARCH_AMD64_DETOUR_H

#include <Zydis/Zydis.h>

#include "internal.h"

#define JUMP_BYTES 5u
#define AREA_BYTES 65536u
#define AREA_CODE PAGE /* the code follows the window */
#define AREAS 4u
#define DETOURS 512u
#define GROUP_MAX 5u /* most instructions that one jump replaces */
#define GROUP_BYTES 20u
#define STUB_BYTES 192u /* most bytes of code for one instruction */

struct instruction {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t pc;
	const uint8_t *bytes;
	/* the memory that it reads, if the read can be redirected; NULL: none */
	const ZydisDecodedOperand *load;
};

/* The code for one instruction in a detour. */
struct detour_part {
	uint64_t original;
	uint64_t begin, end; /* all code for it */
	/* the redirected load, if there is one, and the original instruction */
	uint64_t fast, slow;
	/* number of the register that holds the redirected address; its own value is on top of the
	 * stack */
	uint8_t address;
};

/* Writes code for n consecutive instructions, at `at`. False: there is no room. */
struct emitter {
	uint8_t *at, *end;
	const struct window *window; /* of this area */
	struct detour_part *parts;   /* an array of GROUP_MAX */
};
bool emit_group(struct emitter *e, const struct instruction *list, uint32_t n);

/* Asks whether the instructions after the first are reached only from the one before them. bytes:
 * the original bytes of the function. */
bool scan_is_private(const struct instruction *list, uint32_t n, uint64_t function,
		     const uint8_t *bytes, uint64_t len_bytes);

#endif
