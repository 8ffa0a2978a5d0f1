/* A block of code while it is instrumented, and the memory that its steps are written to. */
#ifndef TRACER_BLOCK_H
#define TRACER_BLOCK_H

#include "valgrind/tracer/shadow/step.h"

struct block {
	IRSB *in, *sb;
	IRExpr *touched; /* not 0: something symbolic */
	Addr pc;         /* of the instruction in hand */
	UInt len_bytes;
	struct step *last;    /* the step in hand */
	UInt nsteps, segment; /* since the last segment, which had that number */
	UChar *begin;         /* where the steps of the segment begin */
	struct segment *previous;
};

void block_begin(struct block *b);
struct step *block_step(struct block *b, enum step_kind kind);
void block_arg(struct block *b, IRExpr *e);
/* of the steps so far; NULL if there are none that matter */
struct segment *block_segment(struct block *b);
UInt bits_of(IRType type);

#endif
