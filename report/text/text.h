/* What the files of the text rendering share: text.c puts a report together, place.c writes
 * words, stack.c shows stacks, crash.c what a crash did. */
#ifndef REPORT_TEXT_TEXT_H
#define REPORT_TEXT_TEXT_H

#include "report/format.h"
#include "report/internal.h"

struct text {
	FILE *f;
	const struct report *r;
	const struct report_options *o;
};

/* ---- place.c ---- */

/* Any bytes: nothing of them moves the cursor. */
void text_put(const struct text *t, const char *s);
/* file:line, object+0xoffset, or nothing; true if something. */
bool text_place(const struct text *t, const struct bug_frame *frame);

/* ---- stack.c ---- */

/* Location i of a list, with its callers; those that an earlier one has, too, are not repeated.
 * With --verbose, all frames. */
void text_stack(const struct text *t, const struct bug_location *locations, size_t i);
/* "insert (map.c:33), main (map.c:80)": who called, from the inside to main. */
void text_callers(const struct text *t, const struct bug_location *l);
/* The function of the user's in which recovery died; NULL: it did not, or that is not known. */
const char *text_death(const struct text *t, const struct bug_crash *c);

/* ---- crash.c ---- */

void text_crash(const struct text *t, const struct bug_crash *c);

#endif
