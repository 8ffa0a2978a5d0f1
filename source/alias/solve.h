/* Andersen's points-to analysis over plain constraints: subset-based, field-sensitive, with
 * difference propagation.
 *
 * A node is a variable, or the content of a location. A location is a field of an object, named by
 * its offset. Each node has a set of locations to which it may point. For example:
 *
 *	p = &s;         solver_point(p, location(s, 0))      p → { s+0 }
 *	q = &p->next;   solver_step(q, p, 8)                 q → { s+8 }
 *	*q = &t;        solver_point(n, location(t, 0))
 *	                solver_store(q, n)                   content of s+8 → { t+0 }
 *
 * Array elements are not told apart: whoever adds the constraints leaves indices out. An object
 * with too many fields, or with a field before its beginning, becomes flat: it has a single
 * location. Node 0 is no node; rules about it do nothing. */
#ifndef SOURCE_ALIAS_SOLVE_H
#define SOURCE_ALIAS_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum solve_kind {
	SOLVE_STACK,
	SOLVE_GLOBAL,
	SOLVE_HEAP,
	SOLVE_PM,
	SOLVE_UNKNOWN, /* comes from code without IR */
	SOLVE_FUNCTION,
	SOLVE_VARARGS,
};

/* Called when `call` may call this function; it may add rules. */
typedef void (*solve_on_call)(void *owner, uint32_t call, uint32_t object);

struct solver;
struct solver *solver_new(solve_on_call on_call, void *owner);
void solver_free(struct solver *s);

uint32_t solver_node(struct solver *s);
/* Adds an object and gives its number. The name must outlive the solver. */
uint32_t solver_object(struct solver *s, enum solve_kind kind, const char *name);
uint32_t solver_location(struct solver *s, uint32_t object, int64_t offset);
void solver_flatten(struct solver *s, uint32_t object);

void solver_point(struct solver *s, uint32_t to, uint32_t location); /* to = &location */
void solver_copy(struct solver *s, uint32_t to, uint32_t from);      /* to = from */
void solver_load(struct solver *s, uint32_t to, uint32_t from);      /* to = *from */
void solver_store(struct solver *s, uint32_t to, uint32_t from);     /* *to = from */
/* Adds the constraint to = from + bytes. */
void solver_step(struct solver *s, uint32_t to, uint32_t from, int64_t bytes);
/* Like solver_step(), for a step along an array, which may be in a loop. If `to` flows back to
 * `from`, all elements become one location. */
void solver_stride(struct solver *s, uint32_t to, uint32_t from, int64_t bytes);
/* Adds the constraint of memcpy(to, from): what the fields behind `from` point to, those behind
 * `to` may point to. */
void solver_duplicate(struct solver *s, uint32_t to, uint32_t from);
void solver_call(struct solver *s, uint32_t node, uint32_t call); /* (*node)() */
/* Solves the constraints. False if it takes more work than the limit; then the sets are
 * incomplete. */
bool solver_run(struct solver *s);
/* Sets a function that is asked from time to time whether solver_run() may go on. */
void solver_watch(struct solver *s, bool (*may_go_on)(void *arg), void *arg);
/* Limits the work of solver_run(), counted in elements of sets; there is a default. */
void solver_limit(struct solver *s, uint64_t work);

size_t solver_nobjects(const struct solver *s); /* all numbers of objects are lower */
enum solve_kind solver_kind(const struct solver *s, uint32_t object);
void solver_set_kind(struct solver *s, uint32_t object, enum solve_kind kind);
const char *solver_name(const struct solver *s, uint32_t object);
/* Gives the objects that a node points into, ascending. Returns how many; the list is valid until
 * the next call. */
size_t solver_objects(struct solver *s, uint32_t node, const uint32_t **objects);
/* Gives the objects that any field of an object points into. */
size_t solver_content(struct solver *s, uint32_t object, const uint32_t **objects);
/* Gives the locations that a node points to; the list is valid until something changes. */
size_t solver_locations(const struct solver *s, uint32_t node, const uint32_t **locations);
uint32_t solver_object_of(const struct solver *s, uint32_t location, int64_t *offset);

#endif
