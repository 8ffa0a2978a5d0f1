/* Replaces a word of the input by what the program compared it with, which has another length. What
 * follows the word moves; what no longer fits is cut off, and zeros fill the rest. */
#ifndef EXPLORE_TOKEN_H
#define EXPLORE_TOKEN_H

#include "explore/path/path.h"

/* Replaces the word in bytes 0 to len_bytes of the input. False if it does not fit. */
bool token_put(const struct path_token *t, uint8_t *bytes, size_t len_bytes);
/* Replaces a word so that it has this number in decimal, or this length. A longer word repeats its
 * last byte. */
bool word_put(const struct path_word *w, uint64_t value, uint8_t *bytes, size_t len_bytes);

#endif
