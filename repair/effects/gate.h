/* The last check before a patch is written: it must take no guarantee away. */
#ifndef REPAIR_EFFECTS_GATE_H
#define REPAIR_EFFECTS_GATE_H

#include "repair/plan/internal.h"

/* Why the planned changes may not be written; NULL: nothing speaks against them. */
const char *gate_refusal(struct repair *r);

#endif
