/* Layouts say how types lie in memory. Places say which part of an object an expression denotes.
 * Both are made from the syntax tree (source/clang/) or from debug information
 * (source/dwarf_layout.c), and source/types.c need not know from which. */
#ifndef SOURCE_LAYOUT_H
#define SOURCE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_kind { LAYOUT_SCALAR, LAYOUT_STRUCT, LAYOUT_UNION, LAYOUT_ARRAY };

struct layout {
	enum layout_kind kind;
	const char *name;            /* without "struct"; NULL if it has none */
	uint64_t size_bytes;         /* 0 if unknown, as for an array without bounds */
	struct layout_field *fields; /* sorted by offset */
	size_t nfields;
	const struct layout *element; /* of an array */
	uint64_t count;               /* 0 if it has no bounds */
};

struct layout_field {
	/* NULL for an unnamed struct or union and for a base class, whose fields count as the outer
	 * one's */
	const char *name;
	uint64_t offset, size_bytes; /* for a bit-field, the bytes that contain its bits */
	const struct layout *type;
	bool is_bits;
};

#define PLACE_MAX_STEPS 12
#define PLACE_ANY_INDEX UINT32_MAX
#define PLACE_NO_PARAMETER (-1)
#define PLACE_THIS (-2)

/* The way from an object to a part of it. For example, `p->entry[i].key` in struct log has the root
 * struct log and the steps entry, [any], key. */
struct place {
	const struct layout *root;
	struct place_step {
		/* for a struct or union the field's index; for an array the element's, or
		 * PLACE_ANY_INDEX */
		const struct layout *in;
		uint32_t index;
	} step[PLACE_MAX_STEPS];
	uint32_t nsteps;
	/* the type at the end of the steps; the root if there are none */
	const struct layout *target;
	uint64_t extra_bytes; /* how far into the target, by arithmetic with addresses */
	/* the stored bytes begin at extra_bytes whatever the target's type is; else only if it is a
	 * scalar */
	bool is_exact;
	/* the stored bytes begin so far before the target, because the compiler merged stores */
	uint64_t ahead_bytes;
	bool is_region;        /* some bytes from there on, such as a call fills */
	uint64_t region_bytes; /* how many; 0 if unknown */
	/* equal for all stores of one statement or call, and only for those */
	uint64_t origin;
	/* the root is what this parameter of the function points to; the caller may know more */
	int parameter;
};

/* Adds a step to the place. False if there are too many steps, or if the target has no such
 * part. */
bool place_step(struct place *p, uint32_t index);

/* Appends the steps of inner, whose root is what outer leads to, to outer. False if the types do
 * not fit. */
bool place_join(struct place *outer, const struct place *inner);

/* Turns extra_bytes into steps to the part of this type that begins there. False if there is
 * none. */
bool place_reach(struct place *p, const struct layout *type);

/* Gives the distance from the root to the target in bytes. Array steps of unknown index count as
 * 0. */
uint64_t place_offset(const struct place *p);

/* Adds steps into the target, down to the smallest part that contains the size_bytes at offset.
 * Gives the offset in that part. */
uint64_t place_descend(struct place *p, uint64_t offset, uint64_t size_bytes);
/* Removes steps until the target contains all the bytes, and adapts *offset. If the bytes are
 * behind the current element of an array, moves to the element that contains them. */
void place_ascend(struct place *p, uint64_t *offset, uint64_t size_bytes);

/* Gives how many bytes a step goes forward; 0 if its index is unknown. */
uint64_t step_offset(const struct place_step *s);

#endif
