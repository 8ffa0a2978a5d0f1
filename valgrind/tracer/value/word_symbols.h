/* Symbols that stand for what a function found out about a word of the input. */
#ifndef VALGRIND_TRACER_VALUE_WORD_SYMBOLS_H
#define VALGRIND_TRACER_VALUE_WORD_SYMBOLS_H

#include "valgrind/tracer/value/value.h"

#define WORD_BYTES 8 /* of such a symbol */

/* One more: where it is in the input that expressions are made of, behind the bytes of the input.
 * -1: there are too many. */
Long words_add(ULong input_bytes, Bool is_length);

/* The sum of the length of a word and a constant that is an address: it says where something is,
 * not how long the word is. */
Bool words_is_address(struct val a, struct val b);

#endif
