/* What programs under test need of the processor, for both architectures: how a line is flushed, what completes that, and what the events are called. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define FLUSH_KIND "clwb"
#define FENCE_KIND "sfence"
#define LIBPMEM_FENCE_KIND "sfence"
#define LIBPMEM_NT_KIND "store-nt" /* of a memset that is asked to go around the cache */
#define flush_line(p) __asm__ volatile("clwb (%0)" ::"r"(p) : "memory")
#define flush_line_now(p) _mm_clflush((const void *)(uintptr_t)(p)) /* needs no fence, where there is such a thing */
#define fence() _mm_sfence()

/* A system call that no function makes. */
#define CALL(number, a, b, c)                                                                                                            \
	do {                                                                                                                             \
		long result_;                                                                                                            \
		__asm__ volatile("syscall" : "=a"(result_) : "0"((long)(number)), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); \
	} while (0)

#elif defined(__aarch64__)

#define FLUSH_KIND "dc-cvap"
#define FENCE_KIND "dsb"
#define LIBPMEM_FENCE_KIND "dmb"
#define LIBPMEM_NT_KIND "any" /* there is no such thing */
#define flush_line(p) __asm__ volatile(".arch armv8.2-a; dc cvap, %0" ::"r"(p) : "memory")
#define flush_line_now(p) flush_line(p)
#define fence() __asm__ volatile("dsb sy" ::: "memory")

#define CALL(number, a, b, c)                                                                          \
	do {                                                                                           \
		long a_ = (a), b_ = (b), c_ = (c);                                                     \
		register long x8_ __asm__("x8") = (number);                                            \
		register long x0_ __asm__("x0") = a_;                                                  \
		register long x1_ __asm__("x1") = b_;                                                  \
		register long x2_ __asm__("x2") = c_;                                                  \
		__asm__ volatile("svc #0" : "+r"(x0_) : "r"(x8_), "r"(x1_), "r"(x2_) : "memory");      \
	} while (0)

#endif

#endif
