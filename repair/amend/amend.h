/* Changes existing flushes that are too late, too short or of the wrong bytes, instead of adding
 * others. */
#ifndef REPAIR_AMEND_AMEND_H
#define REPAIR_AMEND_AMEND_H

struct repair;

void amend_fixes(struct repair *r); /* replaces planned flushes by changes of existing ones */
void amend_emit(struct repair *r);  /* turns the changes into edits */

#endif
