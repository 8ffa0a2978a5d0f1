/* Detours. A page with undecided bytes is closed, so a load of other bytes of this page faults,
 * too, again and again. Between two runs, the fork server replaces such loads by a branch to a
 * stub. The stub looks at the address. If the word is neither undecided nor watched, it loads from
 * a second mapping of the image, which is never closed. Otherwise it executes the original
 * instruction at the original address, which faults.
 *
 *   detour.c       which instructions, and where the stubs are
 *   detour_emit.c  a stub
 *   ../../window.c in a run: the second mapping, and words that must not be read there
 *
 * Only loads have detours: stores must be marked. Only code of objects that the server has loaded
 * is changed: runs inherit it, but not programs that a run execs. All instructions have the same
 * length, so no jump can lead into the middle of the branch. */
#ifndef RUNTIME_ARCH_ARM64_DETOUR_H
#define RUNTIME_ARCH_ARM64_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

/* What stubs look up: struct window (arch.h), with the fields that cost a stub least, near its
 * code. */
struct lead {
	uint64_t start, len_bytes;
	uint64_t map;
	uint64_t there; /* address of `start` in the second mapping */
};

#define STUB_WORDS 36u

struct stub {
	uint64_t original; /* the address of the instruction */
	/* numbers of words in the stub: the redirected load, the original instruction */
	uint8_t fast, slow;
	/* number of the register that holds the redirected address; its own value is on top of the
	 * stack */
	uint8_t address;
};

/* Writes a stub of at most STUB_WORDS for the instruction at pc. False: this instruction cannot
 * have one. */
bool stub_emit(struct stub *out, uint32_t *code, const struct lead *lead, uint64_t pc,
	       uint32_t word);

#endif
