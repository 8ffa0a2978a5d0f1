/* Runs single instructions twice: on open memory, and on closed pages of the pool; the registers, the flags and memory must be the same after both. */
#ifndef TESTS_RUNTIME_ARM64_DIFFERENTIAL_H
#define TESTS_RUNTIME_ARM64_DIFFERENTIAL_H

#include <stdbool.h>
#include <stdint.h>

/* Instructions with these bits ('0', '1'); the others ('?') are random. */
struct form {
	const char *bits;
	bool is_aligned; /* to its size, or it faults */
};

/* So many words of each form, to bits NULL. Prints what is wrong first, and how many were. The pool must be closed where it is not read: offsets 512 to 4095. */
void compare_forms(const struct form *forms, int each, bool is_scalable);

#endif
