/* pm.h - cache write-back primitives for the segment index */
#ifndef SEGIDX_PM_H
#define SEGIDX_PM_H

#include <stddef.h>
#include <stdint.h>

#define PM_LINE 64u

#if defined(__x86_64__)
#pragma GCC target("clflushopt")
#include <immintrin.h>

static inline void pm_line(uintptr_t line)
{
	_mm_clflushopt((void *)line);
}

static inline void pm_fence(void)
{
	_mm_sfence();
}
#elif defined(__aarch64__)
static inline void pm_line(uintptr_t line)
{
	__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
}

static inline void pm_fence(void)
{
	__asm__ volatile("dsb ish" : : : "memory");
}
#else
#error "no write-back instruction known for this machine"
#endif

/* Start writing [addr, addr + len) back. Needs a pm_fence() before anything may rely on it. */
static inline void pm_flush(const void *addr, size_t len)
{
	uintptr_t end = (uintptr_t)addr + len;
	uintptr_t p = (uintptr_t)addr & ~(uintptr_t)(PM_LINE - 1);

	for (; p < end; p += PM_LINE)
		pm_line(p);
}

static inline void pm_persist(const void *addr, size_t len)
{
	pm_flush(addr, len);
	pm_fence();
}

/* Store that no earlier store to the same line can be moved behind. */
#define PM_SET(lvalue, v) __atomic_store_n(&(lvalue), (v), __ATOMIC_RELEASE)

#endif
