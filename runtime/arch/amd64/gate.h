/* What only the files of amd64/ share: how the gate (runtime/arch.h) catches the program's system
 * calls, and functions in assembly that access memory for the program. */
#ifndef RUNTIME_ARCH_AMD64_GATE_H
#define RUNTIME_ARCH_AMD64_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* System calls from [rt_gate_begin, rt_gate_end) are not caught. */
extern const char rt_gate_begin[], rt_gate_end[];
/* True: calls are caught by syscall user dispatch, which is set per thread. False: they are caught
 * by replaced instructions. */
extern bool rt_dispatches __attribute__((visibility("hidden")));
/* Chooses the way in which calls are caught. Called in each process before everything else. In
 * catch.c. */
void catch_choose(void);
/* Says why system calls cannot be caught in this process; NULL: they can. */
const char *catch_refusal(void);

/* Finding and replacing calls: text.c. The first byte of each call becomes CALL_BYTE, which begins
 * no instruction in 64-bit code. The second byte stays and says which call it was. */
#define CALL_BYTE 0xd6
enum { SYSCALL_SECOND = 0x05, SYSENTER_SECOND = 0x34, INT80_SECOND = 0x80 };
struct patch_table;
extern const struct patch_table calls_table;

/* Does rep movs (or rep stos) with elements of 1, 2, 4, or 8 bytes. A fault ends it; rcx is then
 * the number of elements that were not done. */
struct gate_string {
	uint64_t rdi, rsi, rcx, rax;
	uint64_t rflags; /* gives the direction */
};
void rt_string(struct gate_string *s, uint64_t size, uint64_t is_stos);

/* Does one load or store of 1, 2, 4, or 8 bytes, as one access. False: it faulted. */
struct gate_access {
	uint64_t addr, value;
};
bool rt_access(struct gate_access *a, uint64_t size, uint64_t is_store);

#endif
