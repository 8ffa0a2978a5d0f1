/* Suppressions in memory: blocks of patterns, by key. */
#ifndef REPORT_SUPPRESS_INTERNAL_H
#define REPORT_SUPPRESS_INTERNAL_H

#include "report/filter.h"
#include "report/internal.h"

#define SUPPRESS_NKEYS 6
#define SUPPRESS_KEY_NAMES "kind, function, file, library, caller, id"

struct block {
	const char *pattern[SUPPRESS_NKEYS]; /* NULL: does not matter */
	const char *path;
	unsigned line;
	size_t nhidden; /* by report_suppress() */
};

struct suppressions {
	struct arena arena;
	VEC(struct block) blocks;
};

/* suppress.c: the number of the key of this name, SUPPRESS_NKEYS if there is none. */
size_t suppress_key_find(const char *name);

#endif
