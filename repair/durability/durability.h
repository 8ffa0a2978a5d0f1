/* Adds missing flushes and fences, and removes those that are proven redundant. */
#ifndef REPAIR_DURABILITY_DURABILITY_H
#define REPAIR_DURABILITY_DURABILITY_H

#include <stdbool.h>
#include <stddef.h>

struct repair;

void durability_new(struct repair *r);
void durability_free(struct repair *r);
void durability_forget(struct repair *r); /* Forgets an earlier plan. */

/* Plans the fixes of one bug and sets its outcome, if the bug is of a kind for flushes and fences.
 * Called once per bug. */
void durability_plan(struct repair *r, size_t bug);
/* Called after all bugs are planned, for a bug of another kind: sets its outcome to fixed if the
 * fixes of other bugs make all its lost stores durable in time. False: they do not. */
bool durability_join(struct repair *r, size_t bug);
/* Moves fixes out of functions and loops, after all bugs are planned. */
void durability_place(struct repair *r);
void durability_emit(struct repair *r);   /* Turns the fixes into edits. */
void durability_remove(struct repair *r); /* Removes redundant statements, after emit. */

/* Says what the plan had to do without (the pointer analysis), and why; NULL: nothing. */
const char *durability_missing(const struct repair *r);

#endif
