/* Flushes and fences: those that are missing are added, those that are proven redundant are
 * removed. */
#ifndef REPAIR_DURABILITY_DURABILITY_H
#define REPAIR_DURABILITY_DURABILITY_H

#include <stdbool.h>
#include <stddef.h>

struct repair;

void durability_new(struct repair *r);
void durability_free(struct repair *r);
void durability_forget(struct repair *r); /* an earlier plan */

/* Once per bug: its outcome, if it is of a kind that is mended here. */
void durability_plan(struct repair *r, size_t bug);
/* When all bugs are planned: one of another kind, whose lost stores other bugs' flushes and fences
 * make durable in time. False: nothing is done there. */
bool durability_join(struct repair *r, size_t bug);
void durability_place(struct repair *r); /* out of functions and loops, when all bugs are planned */
void durability_emit(struct repair *r);  /* as edits of the text */
void durability_remove(struct repair *r); /* what is redundant, once all fixes are edits */

/* What the plan had to do without, and why; NULL: nothing. */
const char *durability_missing(const struct repair *r);

#endif
