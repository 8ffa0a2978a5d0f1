/* What programs under test need of the processor, for both architectures: how a line is flushed,
 * what completes the flush, and what the events are called. Tests of one architecture's own
 * instructions are in folders amd64/ and arm64/. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/* Both architectures:
 *   flush_line(p)       begins to write a line back; a fence completes it
 *   flush_line_alt(p)   the same, by another instruction
 *   flush_line_now(p)   writes a line back without a fence, where there is such a thing
 *   fence()             completes this thread's flushes
 *   fence_alt()         the same, by another instruction
 *   fence_loads()       orders loads, and completes nothing
 *   spin_hint()         this thread waits for another one
 *   CALL(n, a, b, c)    a system call that no function makes; its result
 *   VECTOR_LOAD(p)      a load of 16 bytes into a vector register
 *   LOAD_NULL(v)        an instruction of LOAD_NULL_BYTES that faults: loads from address 0 into the register of v
 *   BREAK()             traps; the context of the signal is BREAK_BYTES before the next instruction
 *   CONTEXT_PC(uc), CONTEXT_RESULT(uc)   of a ucontext_t: the next instruction, and the register of v */
#if defined(__x86_64__)

#include <immintrin.h>

#define FLUSH_KIND "clwb"
#define FENCE_KIND "sfence"
#define LIBPMEM_FENCE_KIND "sfence"
/* kind of the stores of a libpmem memset that is asked to bypass the cache */
#define LIBPMEM_NT_KIND "store-nt"
#define flush_line(p) __asm__ volatile("clwb (%0)" ::"r"(p) : "memory")
#define flush_line_alt(p) __asm__ volatile("clflushopt (%0)" ::"r"(p) : "memory")
#define flush_line_now(p) __asm__ volatile("clflush (%0)" ::"r"(p) : "memory")
#define fence() __asm__ volatile("sfence" ::: "memory")
#define fence_alt() __asm__ volatile("mfence" ::: "memory")
#define fence_loads() __asm__ volatile("lfence" ::: "memory")
#define spin_hint() __asm__ volatile("pause")

#define CALL(number, a, b, c)                                                                                                                     \
	__extension__({                                                                                                                           \
		long result_;                                                                                                                     \
		__asm__ volatile("syscall" : "=a"(result_) : "0"((long)(number)), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); \
		result_;                                                                                                                          \
	})
#define VECTOR_LOAD(p) __asm__ volatile("movdqu (%0), %%xmm0" : : "r"(p) : "xmm0", "memory")
#define LOAD_NULL_BYTES 2
#define LOAD_NULL(v) __asm__ volatile("mov (%%rbx), %%eax" : "=a"(v) : "b"(0ul) : "memory")
#define BREAK_BYTES 0
#define BREAK() __asm__ volatile("int3")
#define CONTEXT_PC(uc) ((uc)->uc_mcontext.gregs[REG_RIP])
#define CONTEXT_RESULT(uc) ((uc)->uc_mcontext.gregs[REG_RAX])
/* The runtime uses protection keys if the processor has them. */
#define RUNTIME_KEYS 1
/* The runtime uses syscall user dispatch if the kernel has it. */
#define RUNTIME_DISPATCH 1
/* In a run: is there a system call instruction here, original or replaced? */
#define IS_CALL(pc) (*(const uint16_t *)(pc) == 0x050f || *(const uint16_t *)(pc) == 0x05d6)
/* long f(int fd, const void *from, size_t n): write(), by a system call of its own. */
#define WRITE_CODE { 0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0xc3 }

#elif defined(__aarch64__)

#define FLUSH_KIND "dc-cvap"
#define FENCE_KIND "dsb"
#define LIBPMEM_FENCE_KIND "dmb"
#define LIBPMEM_NT_KIND "any" /* arm64 has none */
/* dc cvap, which assemblers accept from armv8.2 on */
#define flush_line(p) __asm__ volatile("sys #3, c7, c12, #1, %0" ::"r"(p) : "memory")
/* dc cvadp, which assemblers accept from armv8.5 on */
#define flush_line_alt(p) __asm__ volatile("sys #3, c7, c13, #1, %0" ::"r"(p) : "memory")
#define flush_line_now(p) flush_line(p)
#define fence() __asm__ volatile("dsb sy" ::: "memory")
#define fence_alt() __asm__ volatile("dsb ish" ::: "memory")
#define fence_loads() __asm__ volatile("dsb ld" ::: "memory")
#define spin_hint() __asm__ volatile("yield")

#define CALL(number, a, b, c)                                                                          \
	__extension__({                                                                                \
		long a_ = (a), b_ = (b), c_ = (c);                                                     \
		register long x8_ __asm__("x8") = (number);                                            \
		register long x0_ __asm__("x0") = a_;                                                  \
		register long x1_ __asm__("x1") = b_;                                                  \
		register long x2_ __asm__("x2") = c_;                                                  \
		__asm__ volatile("svc #0" : "+r"(x0_) : "r"(x8_), "r"(x1_), "r"(x2_) : "memory");      \
		x0_;                                                                                   \
	})
#define VECTOR_LOAD(p) __asm__ volatile("ldr q0, [%0]" : : "r"(p) : "v0", "memory")
#define LOAD_NULL_BYTES 4
#define LOAD_NULL(v)                                                                                   \
	do {                                                                                           \
		register uint64_t x0_ __asm__("x0");                                                   \
		__asm__ volatile("ldr w0, [%1]" : "=r"(x0_) : "r"(0ul) : "memory");                    \
		(v) = x0_;                                                                             \
	} while (0)
#define BREAK_BYTES 4
#define BREAK() __asm__ volatile("brk #0")
#define CONTEXT_PC(uc) ((uc)->uc_mcontext.pc)
#define CONTEXT_RESULT(uc) ((uc)->uc_mcontext.regs[0])
#define RUNTIME_KEYS 0
#define RUNTIME_DISPATCH 0
#define IS_CALL(pc) (*(const uint32_t *)(pc) >> 16 == 0) /* the runtime replaced it by udf */
#define WRITE_CODE { 0x08, 0x08, 0x80, 0xd2, 0x01, 0, 0, 0xd4, 0xc0, 0x03, 0x5f, 0xd6 } /* mov x8, #64; svc #0; ret */

#endif

#endif
