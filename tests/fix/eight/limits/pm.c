/* pm.c - how this machine writes lines of its cache back */
#include "pm.h"

#include <stdint.h>
#include <string.h>

#define LINE 64

#if defined(__x86_64__)
#pragma GCC target("clwb", "clflushopt")
#include <immintrin.h>

static inline void line_keep(uintptr_t line)
{
	_mm_clwb((void *)line);
}

static inline void line_drop(uintptr_t line)
{
	_mm_clflushopt((void *)line);
}

static void wait_all(void)
{
	_mm_sfence();
}
#elif defined(__aarch64__)
static inline void line_keep(uintptr_t line)
{
	__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
}

static inline void line_drop(uintptr_t line)
{
	__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}

static void wait_all(void)
{
	__asm__ volatile("dsb ish" : : : "memory");
}
#endif

static void clean_keep(const void *p, size_t n)
{
	uintptr_t at = (uintptr_t)p & ~(uintptr_t)(LINE - 1), end = (uintptr_t)p + n;

	for (; at < end; at += LINE)
		line_keep(at);
}

static void clean_drop(const void *p, size_t n)
{
	uintptr_t at = (uintptr_t)p & ~(uintptr_t)(LINE - 1), end = (uintptr_t)p + n;

	for (; at < end; at += LINE)
		line_drop(at);
}

static const struct pm_ops all_ops[] = {
	{ .name = "keep", .clean = clean_keep, .order = wait_all },
	{ .name = "drop", .clean = clean_drop, .order = wait_all },
};

const struct pm_ops *pm_ops_find(const char *name)
{
	for (size_t i = 0; i < sizeof(all_ops) / sizeof(all_ops[0]); i++)
		if (!name || strcmp(all_ops[i].name, name) == 0)
			return &all_ops[i];
	return NULL;
}
