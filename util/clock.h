/* Reads a clock that never goes back, in seconds. */
#ifndef UTIL_CLOCK_H
#define UTIL_CLOCK_H

#include <time.h>

static inline double clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
