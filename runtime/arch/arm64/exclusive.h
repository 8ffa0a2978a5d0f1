/* Exclusive loads and stores. Each exception clears the processor's exclusive monitor. If the load
 * were stepped alone, its store would always fail. So both are stepped together, with the code
 * between them. */
#ifndef RUNTIME_ARCH_ARM64_EXCLUSIVE_H
#define RUNTIME_ARCH_ARM64_EXCLUSIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "a64/a64.h"

#define EXCLUSIVE_MAX 16u /* most instructions of such a piece */

/* Counts the instructions from an exclusive load to its store, both included. Between them, there
 * may be arithmetic, and branches that leave this piece of code. 0: the store was not found, or
 * something else is between. */
uint32_t exclusive_length(const struct a64 *load, uint64_t pc);

/* branch_read() reads the displacement in bytes of a conditional branch; false: the word is none.
 * branch_to() returns the branch with another displacement. */
bool branch_read(uint32_t word, int64_t *displacement);
uint32_t branch_to(uint32_t word, int64_t displacement);

#endif
