/* Assembly that only this architecture's files call. */
#ifndef RUNTIME_ARCH_AMD64_GATE_H
#define RUNTIME_ARCH_AMD64_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* rep movs (stos: rep stos) with elements of 1, 2, 4, or 8 bytes. A fault ends it: count is what was not done. */
struct gate_string {
	uint64_t rdi, rsi, rcx, rax;
	uint64_t rflags; /* for the direction */
};
void rt_string(struct gate_string *s, uint64_t size, uint64_t is_stos);

/* One load or store of 1, 2, 4, or 8 bytes, as one access; false: it faulted. */
struct gate_access {
	uint64_t addr, value;
};
bool rt_access(struct gate_access *a, uint64_t size, uint64_t is_store);

#endif
