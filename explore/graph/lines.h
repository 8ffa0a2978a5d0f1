/* Which addresses of an object come from given lines of its source, by its debug information. */
#ifndef EXPLORE_LINES_H
#define EXPLORE_LINES_H

#include <stdint.h>

#include "util/vec.h"

struct lines_line {
	char *file; /* absolute */
	uint32_t line;
};

struct lines { /* of source */
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
/* Adds to the ranges; none if there is no debug information. */
void lines_find(const struct lines *l, const char *object, struct lines_ranges *ranges);

#endif
