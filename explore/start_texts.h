/* Texts that fill parts of the input about which nothing is known. With zeros, each byte of a line
 * would have to be found before its words can be. A text is tried when a run compares a byte of the
 * input with one of its delimiters. */
#ifndef EXPLORE_START_TEXTS_H
#define EXPLORE_START_TEXTS_H

#include "explore/path/path.h"

#define TEXTS 3
#define TEXTS_AFTER 5 /* runs before that: what follows from zeros comes first */
/* whether this path compares a byte with one of the text's */
bool text_is_asked_for(unsigned text, const struct path *p);
void text_fill(unsigned text, uint8_t *bytes, size_t len_bytes);

#endif
