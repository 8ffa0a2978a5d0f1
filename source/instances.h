/* Which objects are at which addresses. What one store does not show, another one may have shown:
 * where the struct begins that an element of an array belongs to, and what is at an address that is
 * stored to through a pointer to a plain number. */
#ifndef SOURCE_INSTANCES_H
#define SOURCE_INSTANCES_H

#include "source/layout.h"
#include "util/map.h"
#include "util/vec.h"

struct instance {
	uint64_t start;
	uint32_t type; /* name */
	const struct layout *layout;
	bool is_guess;  /* the beginning is that of the lowest element that was met */
	uint32_t nseen; /* stores that say that it begins there */
	uint32_t next;  /* of the same type and page, + 1 */
};

struct instances {
	VEC(struct instance) list;
	struct map pages; /* type and page: index into list + 1 */
	/* address / 8: index into list + 1 of the outermost that was last stored to there */
	struct map words;
	/* index into list: the first that are known and hold other structs */
	VEC(uint32_t) holders;
};

void instances_release(struct instances *s);

/* An object of which the beginning is known. Gives its number. */
uint32_t instances_add(struct instances *s, uint32_t type, const struct layout *layout,
		       uint64_t start);

/* The beginning is first, or a multiple of stride below it, at most count - 1 times; count 0: no
 * bounds. Finds the one that is known; if there is none, the first is taken until a lower one is
 * met. */
uint32_t instances_place(struct instances *s, uint32_t type, const struct layout *layout,
			 uint64_t first, uint64_t stride, uint64_t count);

/* The same, but only if it is known. */
bool instances_known(const struct instances *s, uint32_t type, uint64_t first, uint64_t stride,
		     uint64_t count, uint64_t *start);

/* it was stored to */
void instances_mark(struct instances *s, uint32_t instance, uint64_t addr, uint64_t size_bytes);
/* by nobody knows whom */
void instances_forget(struct instances *s, uint64_t addr, uint64_t size_bytes);
/* The one of this type that is known, and holds that byte. Loops that count addresses are misread
 * at times: of several that overlap, the one that most stores tell of. NULL: there is none. */
const struct instance *instances_covering(const struct instances *s, uint32_t type,
					  const struct layout *layout, uint64_t addr);
/* One that is known, with an object of that layout at that address in it; of several, the largest.
 * NULL: there is none. */
const struct instance *instances_holder(const struct instances *s, const struct layout *inner,
					uint64_t start);
/* NULL: nothing known */
const struct instance *instances_at(const struct instances *s, uint64_t addr);

#endif
