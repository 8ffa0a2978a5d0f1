/* Texts that fill those parts of the input about which nothing is known. If such a part began as
 * zeros, the solver would have to find each byte of a line before it could find the words of the
 * line. A text is tried when a run compares a byte of the input with one of the text's
 * delimiters. */
#ifndef EXPLORE_START_TEXTS_H
#define EXPLORE_START_TEXTS_H

#include "explore/path/path.h"

#define TEXTS 3
#define TEXTS_AFTER 5 /* runs before that: what follows from zeros comes first */
/* Asks whether this path compares a byte of the input with a delimiter of the text. */
bool text_is_asked_for(unsigned text, const struct path *p);
void text_fill(unsigned text, uint8_t *bytes, size_t len_bytes);

#endif
