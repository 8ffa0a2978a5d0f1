/* Exclusive loads and stores. Each exception clears the processor's monitor, so that a store whose
 * load was stepped by itself would fail for ever: they are stepped together. */
#ifndef RUNTIME_ARCH_ARM64_EXCLUSIVE_H
#define RUNTIME_ARCH_ARM64_EXCLUSIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "a64/a64.h"

#define EXCLUSIVE_MAX 16u /* instructions */

/* How many instructions there are from an exclusive load to its store, both included. Between them
 * there may be arithmetic, and branches that are not taken as long as the store is to come. 0: the
 * store was not found, or something else is between. */
uint32_t exclusive_length(const struct a64 *load, uint64_t pc);

/* A branch of such a piece of code: what it would be with a displacement of so many bytes, and its
 * own displacement. False: the word is none. */
bool branch_read(uint32_t word, int64_t *displacement);
uint32_t branch_to(uint32_t word, int64_t displacement);

#endif
