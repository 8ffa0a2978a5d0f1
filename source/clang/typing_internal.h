/* What the files share that find what a store writes to: layouts, places, and the stores of a
 * function. */
#ifndef SOURCE_CLANG_TYPING_H
#define SOURCE_CLANG_TYPING_H

#include "source/clang/cursor.h"
#include "source/clang/unit.h"
#include "source/layout.h"
#include "util/map.h"

/* A translation unit that stays open for further questions. */
struct typed_unit {
	struct unit *unit;
	const char *file;
	/* hash of the type's declaration → list of struct known_layout */
	struct map layouts;
	CXCursor function; /* the function that names belong to */
};

/* Gives the layout of a type; NULL if its size depends on a template's parameters. */
const struct layout *layout_of(struct typed_unit *t, CXType type); /* layout.c */
/* Lists in `path` the steps from a class to its base class `to`. Gives how many steps there are; 0
 * if it is no base class. */
uint32_t layout_base_path(const struct layout *from, const struct layout *to, uint32_t *path,
			  uint32_t max);

/* place_of() finds the object that an expression denotes, or to which it points. False if unknown.
 * (place.c) */
bool place_of(struct typed_unit *t, CXCursor expression, struct place *out);
bool place_pointed(struct typed_unit *t, CXCursor expression, struct place *out);
/* Finds the place of a field in the object whose method t->function is. */
bool place_of_field(struct typed_unit *t, CXCursor field, struct place *out);

/* Finds the store or call at a place of t->function. (stores.c) */
bool store_find(struct typed_unit *t, const struct source_query *q, struct place *out);

#endif
