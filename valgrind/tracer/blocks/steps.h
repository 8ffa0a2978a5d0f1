/* Adds to a block what its shadow needs, statement by statement. */
#ifndef TRACER_STEPS_H
#define TRACER_STEPS_H

#include "valgrind/tracer/blocks/block.h"

void steps_add(struct block *b, IRStmt *st, Bool is_last);
/* of those that were added since the last exit: a guarded call that runs them */
void steps_end(struct block *b);

#endif
