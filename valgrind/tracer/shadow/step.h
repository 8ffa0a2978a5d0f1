/* Describes the steps of a block: what the shadow must do for the block, and the values that the
 * steps work on. */
#ifndef TRACER_STEP_H
#define TRACER_STEP_H

#include "valgrind/tracer/value/flags.h"
#include "valgrind/tracer/value/value.h"

enum step_kind {
	STEP_INSN, /* a new instruction; k: its pc */
	STEP_LEAF, /* a temporary whose value the machine noted; args: from what it was computed */
	STEP_MOVE, /* a copy, or a constant */
	STEP_OP,
	STEP_ITE,
	STEP_CALL, /* a helper that computes flags; also noted */
	STEP_GET,
	STEP_PUT,
	STEP_LOAD, /* arg 0: address; also noted */
	/* arg 0: address, arg 1: condition, arg 2: the value otherwise; `from` bits are loaded and
	 * widened, sign-extended if k; also noted */
	STEP_LOAD_IF,
	STEP_STORE,     /* arg 0: address, arg 1: data, arg 2: condition */
	STEP_CAS,       /* arg 0: address, arg 1: data, arg 2: expected value; tmp: the old value */
	STEP_CLEAR,     /* memory becomes concrete; arg 0: address; k: bytes */
	STEP_CLEAR_REG, /* registers become concrete; k: bytes from offset */
	STEP_EXIT,      /* arg 0: condition; k: destination if true; other: destination if false */
	STEP_NEXT,      /* arg 0: destination of an indirect jump */
};

struct step_arg {
	ULong k; /* the constant if tmp is NO_TMP; of a vector, a bit per byte */
	UInt tmp;
	UShort bits;
	Bool is_mask;
};
#define NO_TMP 0xffffffffu
#define STEP_ARGS FLAGS_ARGS_MAX

struct step {
	UChar kind;
	UChar nargs;
	UShort bits; /* of the result, or of what is written */
	IROp op;
	UInt tmp;    /* that gets the result */
	UInt offset; /* in the guest state */
	UShort from;
	ULong k;
	Addr other;
	const HChar *name;     /* of the called function */
	struct step_arg arg[]; /* nargs of them; the next step follows */
};

#define TMPS 16384
/* values that the machine computed, for the temporaries that are leaves */
extern ULong g_noted[TMPS][PARTS];
extern struct wide g_tmps[TMPS];

struct segment {     /* the steps up to an exit of the block */
	UInt number; /* in its block, from 0 */
	UInt nsteps;
	UChar *steps;
	struct segment *previous;
};

static inline const struct step *step_next(const struct step *s)
{
	return (const struct step *)(s->arg + s->nargs);
}

#endif
