/* Assembly that only this architecture's files call. */
#ifndef RUNTIME_ARCH_AMD64_GATE_H
#define RUNTIME_ARCH_AMD64_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* Calls from [rt_gate_begin, rt_gate_end) are let through. */
extern const char rt_gate_begin[], rt_gate_end[];
/* By syscall user dispatch, which is a thread's own; else by replacing them. */
extern bool rt_dispatches __attribute__((visibility("hidden")));
/* Which of the two it is; in each process, before everything else: catch.c. */
void catch_choose(void);
const char *catch_refusal(void); /* why calls cannot be caught in this process; NULL: they can */

/* How calls are found and replaced: text.c. The first byte of each becomes CALL_BYTE, which is no
 * instruction in 64-bit code; the second tells what it was. */
#define CALL_BYTE 0xd6
enum { SYSCALL_SECOND = 0x05, SYSENTER_SECOND = 0x34, INT80_SECOND = 0x80 };
struct patch_table;
extern const struct patch_table calls_table;

/* rep movs (stos: rep stos) with elements of 1, 2, 4, or 8 bytes. A fault ends it: count is what
 * was not done. */
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
