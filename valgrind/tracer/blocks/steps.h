/* Adds to a block, statement by statement, the steps that its shadow runs (step.h), and the code
 * that notes the values which these steps need. */
#ifndef TRACER_STEPS_H
#define TRACER_STEPS_H

#include "valgrind/tracer/blocks/block.h"

void steps_add(struct block *b, IRStmt *st, Bool is_last);
/* Adds a guarded call that runs the steps added since the last exit. */
void steps_end(struct block *b);

#endif
