/* Accesses registers in a signal frame, for the files of this folder. In addresses, register number
 * 31 is the stack pointer; elsewhere, it is zero. */
#ifndef RUNTIME_ARCH_ARM64_FRAME_H
#define RUNTIME_ARCH_ARM64_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

uint64_t frame_base(const ucontext_t *uc, uint32_t reg);
void frame_set_base(ucontext_t *uc, uint32_t reg, uint64_t value);
uint64_t frame_general(const ucontext_t *uc, uint32_t reg);
void frame_set_general(ucontext_t *uc, uint32_t reg, uint64_t value);
/* Reads or sets 16 bytes of a vector register. Setting them clears the rest of the SVE register.
 * False: the frame has no vector registers. */
bool frame_vector(const ucontext_t *uc, uint32_t reg, uint64_t value[2]);
bool frame_set_vector(ucontext_t *uc, uint32_t reg, const uint64_t value[2]);
/* frame_vector_bytes() gives the length in bytes of an SVE vector register (0: the frame has none).
 * frame_predicate() gives a predicate, which has a bit for each of those bytes (NULL: the frame has
 * none). */
uint32_t frame_vector_bytes(const ucontext_t *uc);
const uint8_t *frame_predicate(const ucontext_t *uc, uint32_t reg);

#endif
