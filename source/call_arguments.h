/* Finds out which object a call is given, from its source line and debug information. f(x,
 * sizeof(*x)) passes all that x points to; f(x, sizeof(x)) passes only as many bytes as the pointer
 * has. */
#ifndef SOURCE_CALL_ARGUMENTS_H
#define SOURCE_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Dwfl_Module;

/* A function at an address. depth counts outwards from the innermost of the functions that are
 * inlined there. */
struct code_place {
	struct Dwfl_Module *module;
	uint64_t pc;
	size_t depth;
};

enum call_takes { CALL_TAKES_UNKNOWN, CALL_TAKES_NO_LENGTH, CALL_TAKES_LENGTH };

/* Does the function take an address, followed by an integer that may be a length? */
enum call_takes call_takes(const struct code_place *f);

enum call_given {
	CALL_GIVEN_UNKNOWN,
	CALL_GIVEN_OBJECT,  /* the address and size of an object */
	CALL_GIVEN_POINTER, /* the address of an object, but the size of the pointer to it */
};

/* Reads the call in this line of the function. Sets *bytes to the object's size; 0 if the pointer
 * is a void *. */
enum call_given call_given(const struct code_place *f, const char *line, size_t len,
			   uint64_t *bytes);

/* Does the store's line call memcpy(x, y, n) or the like, and the flush's line f(x, n)? Then f is
 * given exactly what is stored. */
bool call_is_same_range(const char *store, size_t store_len, const char *flush, size_t flush_len);

#endif
