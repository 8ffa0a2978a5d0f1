/* How this program flushes. */
#ifndef PM_H
#define PM_H

#include <stddef.h>

#include "tests/machine.h"

static inline void pm_flush(const void *at, size_t len)
{
	for (const char *p = (const char *)((unsigned long)at & ~63ul); p < (const char *)at + len; p += 64)
		flush_line(p);
}

static inline void pm_fence(void)
{
	fence();
}

#endif
