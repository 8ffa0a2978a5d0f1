/* Detours. A page with something undecided is closed, and whoever reads what lies beside it faults
 * again and again. Between two runs, the fork server replaces loads that did so by a branch to a
 * stub that looks at the address. Unless it is one of undecided or watched words, the stub loads
 * through a second mapping of the image, which is never closed; else it does what the program
 * wanted to do, at the address where it wanted to, and faults.
 *
 *   detour.c       which instructions, and where the stubs are
 *   detour_emit.c  a stub
 *   ../../window.c in a run: the second mapping, and which words of it are not to be read there
 *
 * Only loads: stores must be marked. Only code of the server's own objects: a run inherits it, and
 * what it executes instead does not. All instructions have one length, so that nobody can jump into
 * the middle of a branch. */
#ifndef RUNTIME_ARCH_ARM64_DETOUR_H
#define RUNTIME_ARCH_ARM64_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

/* What stubs ask: struct window (arch.h) in the way that costs them least. It is near them. */
struct lead {
	uint64_t start, len_bytes;
	uint64_t map;
	uint64_t there; /* where `start` is in the second mapping */
};

#define STUB_WORDS 36u

struct stub {
	uint64_t original;  /* the address of the instruction */
	uint8_t fast, slow; /* in words: the load elsewhere, the instruction as it was */
	/* number of the register that the load elsewhere uses, which is saved on top of the
	 * stack */
	uint8_t address;
};

/* Writes a stub of at most STUB_WORDS for an instruction at pc; false: it is none that may have
 * one. */
bool stub_emit(struct stub *out, uint32_t *code, const struct lead *lead, uint64_t pc,
	       uint32_t word);

#endif
