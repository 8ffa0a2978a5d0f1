/* Makes the last check before a patch is written: the patch must take no guarantee away that the
 * program has. */
#ifndef REPAIR_EFFECTS_GATE_H
#define REPAIR_EFFECTS_GATE_H

#include "repair/plan/internal.h"

/* Returns why the planned changes may not be written; NULL: nothing speaks against them. */
const char *gate_refusal(struct repair *r);

#endif
