/* Runs a small function on invented arguments, to see which lines it flushes and whether it
 * fences. */
#ifndef REPAIR_IDIOM_RUN_H
#define REPAIR_IDIOM_RUN_H

#include "repair/plan/internal.h"

enum { RUN_BASE = 0x10000000, RUN_LINES = 256, RUN_ARGUMENTS = 8 };

struct run_value {
	bool is_known;
	uint64_t value;
};

struct effect {
	bool is_followed;      /* everything that it flushed is known */
	bool flushes, fences;  /* fences: after the last flush */
	bool stores;           /* it stores through its arguments */
	bool lines[RUN_LINES]; /* flushed lines; line 0 is at RUN_BASE */
};

/* Runs f. this: the object of a method. aligned: an expression that is taken as rounded down to a
 * line; NULL: none. */
void run_function(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  struct run_value this, const struct run_value *args,
		  const struct source_node *aligned, struct effect *e);

/* Finds the definition of a function in another parsed file, and sets *u to that file; NULL: it was
 * not parsed. */
const struct source_function *run_definition(struct repair *r, const struct source_unit **u,
					     const struct source_function *declared);
/* Finds the called function with its body, and sets *u to its file; NULL: unknown. */
const struct source_function *run_callee(struct repair *r, const struct source_unit **u,
					 const struct source_node *call);
/* Like run_callee(), for a method that another file defines. */
const struct source_function *run_method(struct repair *r, const struct source_unit **u,
					 const struct source_node *call);

#endif
