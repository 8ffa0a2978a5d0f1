/* Describes a block of code while it is instrumented, and gives memory for its steps. */
#ifndef TRACER_BLOCK_H
#define TRACER_BLOCK_H

#include "valgrind/tracer/shadow/step.h"

struct block {
	IRSB *in, *sb;
	IRExpr *touched; /* temporary that is not 0 if the block has touched something symbolic */
	Addr pc;         /* of the current instruction */
	UInt len_bytes;
	struct step *last; /* the current step */
	/* nsteps: steps since the last segment; segment: number of the next one */
	UInt nsteps, segment;
	UChar *begin; /* the first step of the segment */
	struct segment *previous;
};

void block_begin(struct block *b);
struct step *block_step(struct block *b, enum step_kind kind);
void block_arg(struct block *b, IRExpr *e);
/* Ends a segment with the steps so far; NULL if there are none. */
struct segment *block_segment(struct block *b);
UInt bits_of(IRType type);

#endif
