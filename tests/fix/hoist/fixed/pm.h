/* How this program flushes. */
#ifndef PM_H
#define PM_H

#include <immintrin.h>
#include <stddef.h>

static inline void pm_flush(const void *at, size_t len)
{
	for (const char *p = (const char *)((unsigned long)at & ~63ul); p < (const char *)at + len; p += 64)
		_mm_clwb((void *)p);
}

static inline void pm_fence(void)
{
	_mm_sfence();
}

#endif
