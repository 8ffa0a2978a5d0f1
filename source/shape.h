/* Describes the levels of a place as far as the address does not matter; computed once per place
 * and kind of access. For a store to log.entry[].key the innermost level is struct entry, field
 * key, and the next level is struct log, field entry[].key. */
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
		/* distance from its beginning to that of the level inside it; for the first level,
		 * to the stored bytes */
		uint64_t back_bytes;
		/* plus an unknown multiple of stride, because an array's index is unknown; stride
		 * 0: it is known */
		uint64_t stride, count;
	} level[SHAPE_MAX_LEVELS];
};

/* Makes the shape of an access to size_bytes at an offset into the place's target. */
void shape_make(struct names *names, const struct place *p, uint64_t offset, uint64_t size_bytes,
		struct shape *out);

/* Gives the path from an object to bytes of a part of it, with indices: "entry[3].text". The part
 * begins at_bytes into the object, or is the object itself. NULL if there is no such part, or if
 * its path without indices differs from `like` (may be NULL). free() it. */
char *shape_indexed(const struct layout *l, uint64_t at_bytes, const struct layout *part,
		    uint64_t offset, uint64_t size_bytes, const char *like);

#endif
