/* What the functions of edges.c, logs.c, allocs.c and others.c change. In each of them, what is marked must be in one transaction. */
#ifndef THING_H
#define THING_H

#include <libpmemobj.h>
#include <stdint.h>

struct thing {
	uint64_t a, b, list[8], n;
	unsigned low : 4, high : 4;
	char text[32];
	struct thing *next;
};

#endif
