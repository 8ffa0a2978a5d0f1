/* Finds where three dumps differ: those before and after an operation, and the one that was
 * found. */
#ifndef ACCOUNT_DUMP_DIFF_H
#define ACCOUNT_DUMP_DIFF_H

#include "report/bug.h"
#include "util/vec.h"

struct dump_diff {
	VEC(struct bug_difference) list; /* the first differences; their strings are owned */
	uint64_t ndifferences;
	/* line of the first difference in before, after and found, from 0 */
	size_t first_line[3];
};

/* Compares the dumps. before and after may be NULL. */
void dump_diff_make(struct dump_diff *d, const char *before, const char *after, const char *found);
void dump_diff_release(struct dump_diff *d);
/* Shortens a dump for a report: gives all of it, or some lines before line `line` and what follows,
 * with the number of bytes left out; free() it. */
char *dump_diff_excerpt(const char *text, size_t line);

#endif
