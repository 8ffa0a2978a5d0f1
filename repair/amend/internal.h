/* What the files of repair/amend/ share: the objects of which a store changes a part, and how
 * existing flushes are changed. */
#ifndef REPAIR_AMEND_INTERNAL_H
#define REPAIR_AMEND_INTERNAL_H

#include "repair/durability/internal.h"

/* object.c: the objects that contain the stored bytes, innermost first: for p->a.b, &p->a and p. */
enum { OBJECTS_MAX = 4 };
struct object {
	const char *addr, *size; /* expressions for address and size */
	/* type of the object or of a pointer to it; NULL: the class of `this` */
	const char *type;
	uint32_t bytes;        /* size; 0: unknown */
	uint32_t offset, span; /* the stored bytes in the object; span 0: unknown */
};
struct objects {
	struct object at[OBJECTS_MAX];
	size_t n;
};
void objects_of_store(struct repair *r, const struct fix *x, struct objects *o);
/* Keeps only the outermost object, and replaces its address by what the call passes: for the object
 * p of set(p), the call set(&t->n) passes &t->n. False: the call passes no such address. */
bool objects_leave(struct repair *r, struct objects *o, const struct source_function *callee,
		   const struct fix *at, const struct source_node *call);
/* Returns the text without blanks, parentheses and casts to pointers, so that it can be
 * compared. */
const char *text_bare(struct repair *r, const char *text);

/* may_store.c: asks whether the statement may store to an object of o's type */
bool may_store_to(struct repair *r, const struct fix *at, const struct source_node *top,
		  const struct object *o);
/* Asks whether a variable of the expression is assigned or declared between the two offsets. */
bool is_changed_between(const struct source_function *f, uint32_t from, uint32_t to,
			const char *expression);

/* named_helper.c: if the report names a helper that flushes too little, plans the helper's
 * correction. False: it names none, or the correction is impossible (then the bug has failed). */
bool amend_named_helper(struct repair *r, const struct fix *x, struct amendment *a);
/* move.c, loop.c: plan to move the flush before the statement `before`, or into the loop. False:
 * impossible. */
bool amend_move(struct repair *r, struct amendment *a, const struct source_node *store,
		const struct source_node *before, const struct object *o);
/* scope.c: replaces an object that flushes in its destructor, which runs after the store is
 * published. */
bool amend_scope(struct repair *r, struct amendment *a, const struct source_node *store,
		 const struct source_node *published, const struct objects *o);
bool amend_loop(struct repair *r, struct fix *x, struct amendment *a);

#endif
