/* Makes symbols for what a function found out about a word of the input: its length, or its value
 * as a number. */
#ifndef VALGRIND_TRACER_VALUE_WORD_SYMBOLS_H
#define VALGRIND_TRACER_VALUE_WORD_SYMBOLS_H

#include "valgrind/tracer/value/value.h"

#define WORD_BYTES 8 /* size of such a symbol */

/* Adds a symbol, and gives its place after the input's bytes. -1 if there are too many. */
Long words_add(ULong input_bytes, Bool is_length);

/* Asks whether a + b is the sum of a word's length and a constant address. The sum then says where
 * something is, not how long the word is. */
Bool words_is_address(struct val a, struct val b);

#endif
