/* A hash of text, the same in every version: the ids of bugs are made of it. */
#ifndef UTIL_HASH_H
#define UTIL_HASH_H

#include <stdint.h>

uint64_t hash_text(const char *text);

#endif
