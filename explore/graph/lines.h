/* Finds the addresses of given source lines in an object, from its debug information. */
#ifndef EXPLORE_LINES_H
#define EXPLORE_LINES_H

#include <stdint.h>

#include "util/vec.h"

struct lines_line {
	char *file; /* absolute path */
	uint32_t line;
};

struct lines { /* source lines */
	VEC(struct lines_line) list;
};

struct lines_range {
	uint64_t from, to;
};

struct lines_ranges {
	VEC(struct lines_range) list;
};

void lines_add(struct lines *l, const char *file, uint32_t line);
void lines_release(struct lines *l);
/* Adds to `ranges` the addresses of all lines of the list. Adds nothing if the object has no debug
 * information. */
void lines_find(const struct lines *l, const char *object, struct lines_ranges *ranges);

#endif
