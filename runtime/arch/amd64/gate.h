/* The only place of the process from which system calls go to the kernel; all others arrive in calls_dispatch(). */
#ifndef RUNTIME_GATE_H
#define RUNTIME_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* Calls from [rt_gate_begin, rt_gate_end) are let through. */
extern const char rt_gate_begin[], rt_gate_end[];

/* The restorer of our signal handlers. Its code is the sequence by which unwinders know a signal frame. */
extern const char rt_restore[];

/* A call that the program makes itself, with its own mask and stack, so that signals and restarts are as they always are: returning
 * from a handler to here with rsp at a struct gate_return does the call and goes on at `rip`. */
extern const char rt_pass[];
struct gate_return {
	uint64_t rip, rsp;
};

/* rt_sigreturn with the frame whose ucontext is here. */
_Noreturn void rt_return_to(void *uc);

/* clone or clone3 with a stack of its own for the child, which arms dispatch for itself and continues as child_uc says. */
long rt_clone(long number, const long args[6], void *child_uc);

/* rep movs (stos: rep stos) with elements of 1, 2, 4, or 8 bytes. A fault ends it: count is what was not done. */
struct gate_string {
	uint64_t rdi, rsi, rcx, rax;
	uint64_t rflags; /* for the direction */
};
void rt_string(struct gate_string *s, uint64_t size, uint64_t is_stos);
extern const char rt_string_begin[], rt_string_end[];

/* One load or store of 1, 2, 4, or 8 bytes, as one access; false: it faulted. */
struct gate_access {
	uint64_t addr, value;
};
bool rt_access(struct gate_access *a, uint64_t size, uint64_t is_store);
extern const char rt_access_begin[], rt_access_end[], rt_access_failed[];

#endif
