/* Puts what a program looks for into the place of a word of its input that has another length. What
 * follows the word moves; what does not fit any more is cut off, and zeros fill what gets free. */
#ifndef EXPLORE_TOKEN_H
#define EXPLORE_TOKEN_H

#include "explore/path/path.h"

/* Within bytes 0 to len_bytes of the input, which is changed. False: it does not fit. */
bool token_put(const struct path_token *t, uint8_t *bytes, size_t len_bytes);
/* Likewise a word of which this is known instead: its number in decimal, or how many bytes it has.
 * A longer word ends in more of its last byte. */
bool word_put(const struct path_word *w, uint64_t value, uint8_t *bytes, size_t len_bytes);

#endif
