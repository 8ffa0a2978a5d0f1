/* Runs single instructions twice: on open memory, and where they cannot just run: on closed pages of the pool, or as detours; the registers, the flags and memory must be the same after
 * both. */
#ifndef TESTS_RUNTIME_ARM64_DIFFERENTIAL_H
#define TESTS_RUNTIME_ARM64_DIFFERENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "a64/a64.h"

/* Instructions with these bits ('0', '1'); the others ('?') are random. */
struct form {
	const char *bits;
	bool is_aligned; /* to its size, or it faults */
};

/* So many words of each form, to bits NULL. Prints what is wrong first, and how many were. The pool must be closed where it is not read: offsets 512 to 4095. */
void compare_forms(const struct form *forms, int each, bool is_scalable);

/* ---- the parts of it ---- */

#define AREA_BYTES 16384u /* four pages, of which the first is accessed, and perhaps the beginning of the second */
#define VECTOR_MAX 256u
#define SIDE_WORDS 128u	  /* of code, at most */

/* One instruction, and what it accesses: so many bytes behind the area's start. */
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
/* Runs the instruction, or another one in its place, with these registers; its base is the side's own. */
void side_run(const struct side *s, struct registers *r, const struct trial *t, uint32_t word, bool is_scalable);
/* NULL: none. delta: how far b's side is from a's. */
const char *registers_difference(const struct registers *a, const struct registers *b, const struct trial *t, uint64_t delta, bool is_scalable);

/* detours.c: readers */
int detours_plain(void);
int detours_ordered(void);
int detours_scalable(void);
int detours_refused(void);

#endif
