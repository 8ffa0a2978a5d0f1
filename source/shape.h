/* The levels of a place, as far as they do not depend on the address: computed once for each place
 * and kind of access. */
#ifndef SOURCE_SHAPE_H
#define SOURCE_SHAPE_H

#include "source/layout.h"
#include "source/names.h"

#define SHAPE_MAX_LEVELS 8

struct shape {
	uint32_t n;
	struct shape_level {
		uint32_t type, field;
		const struct layout *layout;
		/* it begins so far before the level inside it; the first: before the stored
		 * bytes */
		uint64_t back_bytes;
		/* and then some times stride: the index of an array is not known; stride 0: it
		 * is */
		uint64_t stride, count;
	} level[SHAPE_MAX_LEVELS];
};

/* Of an access to size_bytes, which begin so far into the place's target. */
void shape_make(struct names *names, const struct place *p, uint64_t offset, uint64_t size_bytes,
		struct shape *out);

/* The path from an object to some bytes of a part of it, which begins at_bytes into it, with the
 * index of each element, except of texts: "entry[3].text". The part may be the object itself. NULL:
 * there is no such part, or the path from it, without indices, is another one than `like`, which
 * may be NULL. malloc'd. */
char *shape_indexed(const struct layout *l, uint64_t at_bytes, const struct layout *part,
		    uint64_t offset, uint64_t size_bytes, const char *like);

#endif
