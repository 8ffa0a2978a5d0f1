/* pm.c - write-back of persistent memory */
#include "pm.h"

#include <stdint.h>

static void line_back(uintptr_t line)
{
#if defined(__aarch64__)
	__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
#else
	__asm__ volatile("clwb %0" : "+m"(*(volatile char *)line));
#endif
}

void pm_flush(const void *p, size_t len)
{
	uintptr_t end = (uintptr_t)p + len;

	for (uintptr_t line = (uintptr_t)p & ~(uintptr_t)63; line < end; line += 64)
		line_back(line);
}

void pm_fence(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dsb ish" : : : "memory");
#else
	__asm__ volatile("sfence" : : : "memory");
#endif
}

void pm_persist(const void *p, size_t len)
{
	pm_flush(p, len);
	pm_fence();
}
