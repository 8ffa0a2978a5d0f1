/* What a call hands over, as far as its source line and debug information tell: f(x, sizeof(*x)) is
 * given all that x points to, f(x, sizeof(x)) only as many bytes as the pointer has. */
#ifndef SOURCE_CALLS_H
#define SOURCE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Dwfl_Module;

/* A function at an address of its object: of several that are inlined there, the one so many
 * further out. */
struct code_place {
	struct Dwfl_Module *module;
	uint64_t pc;
	size_t depth;
};

enum call_takes { CALL_TAKES_UNKNOWN, CALL_TAKES_NO_LENGTH, CALL_TAKES_LENGTH };

/* Does the function take an address, and behind it an integer that may be a length? */
enum call_takes call_takes(const struct code_place *f);

enum call_given {
	CALL_GIVEN_UNKNOWN,
	CALL_GIVEN_OBJECT,  /* the address and the size of an object */
	CALL_GIVEN_POINTER, /* the address of an object, and the size of the pointer to it */
};

/* The call is in this line of the function. bytes: of the object; 0 if the pointer does not tell,
 * as a void * does. */
enum call_given call_given(const struct code_place *f, const char *line, size_t len,
			   uint64_t *bytes);

/* One line has memcpy(x, y, n) or the like, the other one f(x, n): f is given what is stored. */
bool call_is_same_range(const char *store, size_t store_len, const char *flush, size_t flush_len);

#endif
