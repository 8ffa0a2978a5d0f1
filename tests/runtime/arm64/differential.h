/* Runs single instructions twice: in the open, and where they cannot simply run (on closed pages of
 * the pool, or as detours). Registers, flags and memory must be the same after both. */
#ifndef TESTS_RUNTIME_ARM64_DIFFERENTIAL_H
#define TESTS_RUNTIME_ARM64_DIFFERENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "a64/a64.h"

/* Bits of an instruction: fixed ('0', '1') or random ('?'). */
struct form {
	const char *bits;
	bool is_aligned; /* must be aligned to its size, or it faults */
};

/* Tries `each` words of each form, up to one with bits NULL. Prints the first difference, and how
 * many there were. The pool must be closed where it is not read: offsets 512 to 4095. */
void compare_forms(const struct form *forms, int each, bool is_scalable);

/* ---- the parts of it ---- */

/* four pages; an access uses the first, and perhaps the beginning of the second */
#define AREA_BYTES 16384u
#define VECTOR_MAX 256u
#define SIDE_WORDS 128u	  /* most words of code */

/* An instruction and what it accesses: offset from the area's start, and size. */
struct trial {
	struct a64 in;
	uint32_t word, target, bytes;
};

/* Memory, and the instruction that accesses it. */
struct side {
	char *area;
	uint32_t *code;
};

struct registers {
	uint64_t x[31], flags;
	uint64_t v[32][2];
	uint8_t z[32 * VECTOR_MAX], p[16 * VECTOR_MAX / 8], ffr[VECTOR_MAX / 8];
};

uint64_t random_word(void);
uint32_t random_of_form(const char *bits);
struct trial trial_make(const struct form *f, bool is_scalable);
struct side side_make(char *area);
void registers_make(struct registers *r);
/* Runs the instruction, or another one in its place, with these registers; the base is the side's
 * own. */
void side_run(const struct side *s, struct registers *r, const struct trial *t, uint32_t word, bool is_scalable);
/* Says what differs; NULL if nothing does. delta is the distance from a's memory to b's. */
const char *registers_difference(const struct registers *a, const struct registers *b, const struct trial *t, uint64_t delta, bool is_scalable);

/* detours.c: readers */
int detours_plain(void);
int detours_ordered(void);
int detours_scalable(void);
int detours_refused(void);

#endif
