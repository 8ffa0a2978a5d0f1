/* Gives numbers to strings. A struct that is all zeros has no names yet. */
#ifndef SOURCE_NAMES_H
#define SOURCE_NAMES_H

#include "util/map.h"
#include "util/vec.h"

struct names {
	struct arena arena;
	VEC(const char *) list;
	struct map numbers; /* hash → number + 1 */
};

uint32_t names_add(struct names *n, const char *text); /* equal texts get equal numbers */
void names_release(struct names *n);

#endif
