/* How types lie in memory, and what an expression that is stored to denotes. Made from the syntax
 * tree (source/clang/) or from debug information (source/dwarf_layout.c); read by source/types.c,
 * which neither knows nor cares which of them it was. */
#ifndef SOURCE_LAYOUT_H
#define SOURCE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layout_kind { LAYOUT_SCALAR, LAYOUT_STRUCT, LAYOUT_UNION, LAYOUT_ARRAY };

struct layout {
	enum layout_kind kind;
	const char *name;            /* without "struct"; NULL: it has none */
	uint64_t size_bytes;         /* 0: not known, as of an array without bounds */
	struct layout_field *fields; /* by offset */
	size_t nfields;
	const struct layout *element; /* of an array */
	uint64_t count;               /* 0: no bounds */
};

struct layout_field {
	/* NULL: an unnamed struct or union, or a base class: its fields are named as if they were
	 * the outer one's */
	const char *name;
	uint64_t offset, size_bytes; /* of a bit-field: the bytes with its bits */
	const struct layout *type;
	bool is_bits;
};

#define PLACE_MAX_STEPS 12
#define PLACE_ANY_INDEX UINT32_MAX
#define PLACE_NO_PARAMETER (-1)
#define PLACE_THIS (-2)

/* From the object that a pointer leads to, step by step to the part that is meant. */
struct place {
	const struct layout *root;
	struct place_step {
		/* a struct or union: which field; an array: which element, if that is known */
		const struct layout *in;
		uint32_t index;
	} step[PLACE_MAX_STEPS];
	uint32_t nsteps;
	const struct layout *target; /* where the steps lead; the root, if there are none */
	uint64_t extra_bytes;        /* so far into the target, by arithmetic with addresses */
	/* the stored bytes begin there, whatever the target's type; else only if it is a scalar */
	bool is_exact;
	/* the stored bytes begin so far before it: the compiler merged several stores */
	uint64_t ahead_bytes;
	bool is_region;        /* any number of bytes from there on: what a call is to fill */
	uint64_t region_bytes; /* how many, 0: not known */
	/* the same for all stores of one statement or call, and only for them */
	uint64_t origin;
	/* the root is what this parameter of the function points to: its caller may know more */
	int parameter;
};

/* Goes one step further; false if that is one too many. */
bool place_step(struct place *p, uint32_t index);

/* Continues outer with the steps of inner, if that is about what outer leads to. False: they do not
 * fit together. */
bool place_join(struct place *outer, const struct place *inner);

/* An address at a known distance into an object, its extra bytes: steps to the part of this type
 * that begins there. False: there is none. */
bool place_reach(struct place *p, const struct layout *type);

/* Bytes from the root to the target, without the steps through arrays of which the index is not
 * known. */
uint64_t place_offset(const struct place *p);

/* Steps into the parts of the target that hold all of these bytes, which begin so far into the
 * target. Gives how far they begin into the last one. */
uint64_t place_descend(struct place *p, uint64_t offset, uint64_t size_bytes);
/* A place that the bytes lie in as a whole: up again from an element or field that they go beyond;
 * of several objects in a row, the right one. */
void place_ascend(struct place *p, uint64_t *offset, uint64_t size_bytes);

uint64_t step_offset(const struct place_step *s); /* of a known step: bytes it goes forward */

#endif
