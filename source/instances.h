/* Remembers which objects are at which addresses, because one store may show what another does not.
 * For example, a store to a[i].x says where the element is, but only a store to another field of
 * the struct shows where the struct begins; and *p = 1 through an int pointer says nothing about
 * the struct around. */
#ifndef SOURCE_INSTANCES_H
#define SOURCE_INSTANCES_H

#include "source/layout.h"
#include "util/map.h"
#include "util/vec.h"

struct instance {
	uint64_t start;
	uint32_t type; /* number of the type's name */
	const struct layout *layout;
	bool is_guess;  /* its beginning is that of the lowest element seen so far */
	uint32_t nseen; /* how many stores say that it begins there */
	uint32_t next;  /* next of the same type and page, as index + 1 */
};

struct instances {
	VEC(struct instance) list;
	struct map pages; /* type and page → index into list + 1 */
	/* address / 8 → index into list + 1 of the outermost instance of the last store there */
	struct map words;
	/* indices into list: the first instances that contain structs */
	VEC(uint32_t) holders;
};

void instances_release(struct instances *s);

/* Notes an object whose beginning is known. Gives its number. */
uint32_t instances_add(struct instances *s, uint32_t type, const struct layout *layout,
		       uint64_t start);

/* Finds the instance that begins at `first` or a multiple of stride below, at most count - 1 times
 * (count 0: no bound). If none is known, `first` becomes the beginning until a lower one is
 * seen. */
uint32_t instances_place(struct instances *s, uint32_t type, const struct layout *layout,
			 uint64_t first, uint64_t stride, uint64_t count);

/* Like instances_place(), but finds only an instance whose beginning is known, and adds none.
 * *start: its beginning. False if there is none. */
bool instances_known(const struct instances *s, uint32_t type, uint64_t first, uint64_t stride,
		     uint64_t count, uint64_t *start);

/* Notes that bytes of this instance were stored. */
void instances_mark(struct instances *s, uint32_t instance, uint64_t addr, uint64_t size_bytes);
/* Notes that bytes of an unknown object were stored. */
void instances_forget(struct instances *s, uint64_t addr, uint64_t size_bytes);
/* Finds the known instance of this type that contains the byte; NULL if there is none. Loops that
 * count addresses lead to instances that overlap; then the one about which most stores tell is
 * given. */
const struct instance *instances_covering(const struct instances *s, uint32_t type,
					  const struct layout *layout, uint64_t addr);
/* Finds the largest known instance that contains, at address `start`, an object with layout
 * `inner`. NULL if there is none. */
const struct instance *instances_holder(const struct instances *s, const struct layout *inner,
					uint64_t start);
/* Gives the instance to which the last store at this address belonged; NULL if unknown. */
const struct instance *instances_at(const struct instances *s, uint64_t addr);

#endif
