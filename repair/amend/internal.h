/* What the files of repair/amend/ share: objects, and how a flush of one that is there is
 * changed. */
#ifndef REPAIR_AMEND_INTERNAL_H
#define REPAIR_AMEND_INTERNAL_H

#include "repair/durability/internal.h"

/* object.c: what a store is part of, from the innermost outwards. */
enum { OBJECTS_MAX = 4 };
struct object {
	const char *addr, *size; /* expressions */
	const char *type;        /* of it or of a pointer to it; NULL: the class of this */
	uint32_t bytes;          /* 0: not known */
	uint32_t offset, span;   /* of what is stored, in it; span 0: not known */
};
struct objects {
	struct object at[OBJECTS_MAX];
	size_t n;
};
void objects_of_store(struct repair *r, const struct fix *x, struct objects *o);
/* The outermost one, as the caller calls it. False: no argument tells. */
bool objects_leave(struct repair *r, struct objects *o, const struct source_function *callee,
		   const struct fix *at, const struct source_node *call);
/* without blanks, parentheses and casts to pointers, to be compared */
const char *text_bare(struct repair *r, const char *text);

/* touch.c: may a statement store to an object of that type? */
bool touches(struct repair *r, const struct fix *at, const struct source_node *top,
	     const struct object *o);
/* some variable in it */
bool is_changed_between(const struct source_function *f, uint32_t from, uint32_t to,
			const char *expression);

/* named.c: the helper that the report names flushes too little, and is mended. False: it names
 * none, or, with a failure, it cannot be. */
bool amend_named(struct repair *r, const struct fix *x, struct amendment *a);
/* move.c, loop.c: false: it cannot be done. */
bool amend_move(struct repair *r, struct amendment *a, const struct source_node *store,
		const struct source_node *before, const struct object *o);
/* scope.c: an object that flushes when its block ends, which is behind what publishes the store. */
bool amend_scope(struct repair *r, struct amendment *a, const struct source_node *store,
		 const struct source_node *published, const struct objects *o);
bool amend_loop(struct repair *r, struct fix *x, struct amendment *a);

#endif
