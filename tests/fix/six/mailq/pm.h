/* pm.h - writing back */
#ifndef PM_H
#define PM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#pragma GCC target("clwb")
#include <immintrin.h>
#endif

static inline void pm_flush(const void *p, size_t n)
{
	uintptr_t line = (uintptr_t)p & ~(uintptr_t)63, end = (uintptr_t)p + n;

	for (; line < end; line += 64)
#if defined(__aarch64__)
		__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
#else
		_mm_clwb((void *)line);
#endif
}

static inline void pm_drain(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dsb ish" : : : "memory");
#else
	_mm_sfence();
#endif
}

static inline void pm_persist(const void *p, size_t n)
{
	pm_flush(p, n);
	pm_drain();
}

#endif
