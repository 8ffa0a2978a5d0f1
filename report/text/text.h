/* What the files of the text report share: text.c puts a report together, place.c prints words and
 * places, stack.c stacks, crash.c what happened in a crash state. */
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

/* Prints s. It may hold any bytes: those that would move the cursor are escaped. */
void text_put(const struct text *t, const char *s);
/* Prints file:line or object+0xoffset. Returns false if neither is known. */
bool text_place(const struct text *t, const struct bug_frame *frame);

/* ---- stack.c ---- */

/* Prints location i of a list with its callers. Callers that an earlier location has, too, are not
 * repeated; with --verbose they are. */
void text_stack(const struct text *t, const struct bug_location *locations, size_t i);
/* Prints the callers, innermost first: "insert (map.c:33), main (map.c:80)". */
void text_callers(const struct text *t, const struct bug_location *l);
/* Gives the function of the user's code in which recovery died; NULL: it did not die, or that is
 * not known. */
const char *text_death(const struct text *t, const struct bug_crash *c);

/* ---- crash.c ---- */

void text_crash(const struct text *t, const struct bug_crash *c);

#endif
