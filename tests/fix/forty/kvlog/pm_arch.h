/* Cache control for persistent memory. The only file that knows the processor. */
#ifndef PM_ARCH_H
#define PM_ARCH_H

#define PM_LINE 64ul

#if defined(__x86_64__)

#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("clwb")
static inline void pm_line_writeback(void *addr)
{
	_mm_clwb(addr);
}
#pragma GCC pop_options

static inline void pm_fence(void)
{
	_mm_sfence();
}

#elif defined(__aarch64__)

static inline void pm_line_writeback(void *addr)
{
	__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(addr) : "memory");
}

static inline void pm_fence(void)
{
	__asm__ volatile("dsb ish" : : : "memory");
}

#else
#error "kvlog has not been ported to this processor"
#endif

#endif
