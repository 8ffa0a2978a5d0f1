/* Runs a small function on arguments that are made up, to see which lines it flushes and whether it
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
	bool is_followed;      /* all that it flushed is known */
	bool flushes, fences;  /* fences: after the last flush */
	bool stores;           /* through what it was given, or copies there */
	bool lines[RUN_LINES]; /* flushed ones, from RUN_BASE on */
};

/* this: of a method. aligned: an expression that is taken as if it were rounded down to a line;
 * NULL. */
void run_function(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  struct run_value this, const struct run_value *args,
		  const struct source_node *aligned, struct effect *e);

/* The definition of a function of this unit in another one, which u becomes; NULL: it was not
 * read. */
const struct source_function *run_definition(struct repair *r, const struct source_unit **u,
					     const struct source_function *declared);
/* The function that is called, with its body, and the unit that it is in; NULL: not seen, or not
 * known. */
const struct source_function *run_callee(struct repair *r, const struct source_unit **u,
					 const struct source_node *call);
/* The same of a method that another file defines. */
const struct source_function *run_method(struct repair *r, const struct source_unit **u,
					 const struct source_node *call);

#endif
