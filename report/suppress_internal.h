/* Keeps suppressions in memory: blocks of patterns, one pattern per key. */
#ifndef REPORT_SUPPRESS_INTERNAL_H
#define REPORT_SUPPRESS_INTERNAL_H

#include "report/filter.h"
#include "report/internal.h"

#define SUPPRESS_NKEYS 6
#define SUPPRESS_KEY_NAMES "kind, function, file, library, caller, id"

struct block {
	const char *pattern[SUPPRESS_NKEYS]; /* NULL: this key may have any value */
	const char *path;
	unsigned line;
	size_t nhidden; /* how many bugs report_suppress() hid by it */
};

struct suppressions {
	struct arena arena;
	VEC(struct block) blocks;
};

/* suppress.c: gives the number of the key with this name; SUPPRESS_NKEYS if there is none. */
size_t suppress_key_find(const char *name);

#endif
