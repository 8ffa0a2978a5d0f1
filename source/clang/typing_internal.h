/* What the files that type stores share: layouts, places, and the stores of a function. */
#ifndef SOURCE_CLANG_TYPING_H
#define SOURCE_CLANG_TYPING_H

#include "source/clang/cursor.h"
#include "source/clang/unit.h"
#include "source/layout.h"
#include "util/map.h"

/* A translation unit that stays open for questions. */
struct typed_unit {
	struct unit *unit;
	const char *file;
	/* by the hash of the type's declaration or name: vectors of struct known_layout */
	struct map layouts;
	CXCursor function; /* in which names are looked up */
};

/* NULL if the type's size depends on what a template gets. */
const struct layout *layout_of(struct typed_unit *t, CXType type); /* layout.c */
/* steps to a base class */
uint32_t layout_base_path(const struct layout *from, const struct layout *to, uint32_t *path,
			  uint32_t max);

/* What an expression denotes, or what it points to. False: that is not known. (place.c) */
bool place_of(struct typed_unit *t, CXCursor expression, struct place *out);
bool place_pointed(struct typed_unit *t, CXCursor expression, struct place *out);
/* of the object whose method t->function is */
bool place_of_field(struct typed_unit *t, CXCursor field, struct place *out);

/* The store or call at a place of the source, in t->function. (stores.c) */
bool store_find(struct typed_unit *t, const struct source_query *q, struct place *out);

#endif
