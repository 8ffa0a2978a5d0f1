/* Texts to begin with where nothing is known of the input. Zeros are a bad text: each byte of a
 * line has to be found before its words can be. When a run compares a byte of the input with one
 * that such texts have, and not before, one is put in. */
#ifndef EXPLORE_TEXTS_H
#define EXPLORE_TEXTS_H

#include "explore/path/path.h"

#define TEXTS 3
#define TEXTS_AFTER 5 /* inputs: what follows from zeros comes first */
bool text_is_asked_for(unsigned text, const struct path *p); /* by a run of this path */
void text_fill(unsigned text, uint8_t *bytes, size_t len_bytes);

#endif
