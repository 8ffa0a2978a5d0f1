/* The last gate before a patch is written: what it takes away. */
#ifndef REPAIR_EFFECTS_GATE_H
#define REPAIR_EFFECTS_GATE_H

#include "repair/plan/internal.h"

/* Why the planned changes may not be written; NULL: nothing is known against them. */
const char *gate_refusal(struct repair *r);

#endif
