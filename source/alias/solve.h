/* Andersen's points-to analysis over plain constraints: subset-based, with fields, by difference
 * propagation.
 *
 * A node is a variable, or the content of a location: a field of an object, told by its offset.
 * Sets hold locations. Array elements are not told apart: whoever makes the constraints leaves
 * indices out. An object with too many fields, or with one in front of its beginning, becomes flat:
 * one location. Node 0 is no node; rules about it do nothing. */
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
	SOLVE_UNKNOWN, /* from code that is not seen */
	SOLVE_FUNCTION,
	SOLVE_VARARGS,
};

/* Called when a function may be what `call` calls; may add rules. */
typedef void (*solve_on_call)(void *owner, uint32_t call, uint32_t object);

struct solver;
struct solver *solver_new(solve_on_call on_call, void *owner);
void solver_free(struct solver *s);

uint32_t solver_node(struct solver *s);
/* borrows the name */
uint32_t solver_object(struct solver *s, enum solve_kind kind, const char *name);
uint32_t solver_location(struct solver *s, uint32_t object, int64_t offset);
void solver_flatten(struct solver *s, uint32_t object);

void solver_point(struct solver *s, uint32_t to, uint32_t location); /* to = &location */
void solver_copy(struct solver *s, uint32_t to, uint32_t from);      /* to = from */
void solver_load(struct solver *s, uint32_t to, uint32_t from);      /* to = *from */
void solver_store(struct solver *s, uint32_t to, uint32_t from);     /* *to = from */
/* to = from + bytes */
void solver_step(struct solver *s, uint32_t to, uint32_t from, int64_t bytes);
/* The same for a step along an array, maybe in a loop: if `to` gets back to `from`, its elements
 * are not told apart. */
void solver_stride(struct solver *s, uint32_t to, uint32_t from, int64_t bytes);
/* memcpy(to, from) */
void solver_duplicate(struct solver *s, uint32_t to, uint32_t from);
void solver_call(struct solver *s, uint32_t node, uint32_t call); /* (*node)() */
/* False: it takes more work than it is worth, and the sets are not whole. */
bool solver_run(struct solver *s);
/* Who is asked now and then whether solver_run() goes on. */
void solver_watch(struct solver *s, bool (*may_go_on)(void *arg), void *arg);
/* How much work solver_run() may do, in elements of sets; there is a limit without this. */
void solver_limit(struct solver *s, uint64_t work);

size_t solver_nobjects(const struct solver *s); /* numbers of objects are below */
enum solve_kind solver_kind(const struct solver *s, uint32_t object);
void solver_set_kind(struct solver *s, uint32_t object, enum solve_kind kind);
const char *solver_name(const struct solver *s, uint32_t object);
/* The objects that a node points into, ascending, each once. Gives how many; the list holds until
 * the next call. */
size_t solver_objects(struct solver *s, uint32_t node, const uint32_t **objects);
/* Those that any field of an object points into. */
size_t solver_content(struct solver *s, uint32_t object, const uint32_t **objects);
/* The same as locations; the list holds until something changes. */
size_t solver_locations(const struct solver *s, uint32_t node, const uint32_t **locations);
uint32_t solver_object_of(const struct solver *s, uint32_t location, int64_t *offset);

#endif
