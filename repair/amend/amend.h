/* Flushes that are there, but too late, too short or of the wrong thing: they are changed, and no
 * others added. */
#ifndef REPAIR_AMEND_AMEND_H
#define REPAIR_AMEND_AMEND_H

struct repair;

void amend_fixes(struct repair *r); /* instead of planned flushes, which go */
void amend_emit(struct repair *r);  /* as edits of the text */

#endif
