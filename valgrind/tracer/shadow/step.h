/* The steps that a block of code is for its shadow, and what they work on. */
#ifndef TRACER_STEP_H
#define TRACER_STEP_H

#include "valgrind/tracer/value/flags.h"
#include "valgrind/tracer/value/value.h"

enum step_kind {
	STEP_INSN, /* k: pc */
	STEP_LEAF, /* a temporary whose value the machine noted; args: what it was made of */
	STEP_MOVE, /* a copy or constant */
	STEP_OP,
	STEP_ITE,
	STEP_CALL, /* of a helper that computes flags; noted, too */
	STEP_GET,
	STEP_PUT,
	STEP_LOAD, /* arg 0: address; noted */
	/* arg 0: address, arg 1: guard, arg 2: alternative; `from` bits are loaded and widened, by
	 * sign if k; noted */
	STEP_LOAD_IF,
	STEP_STORE,     /* arg 0: address, arg 1: data, arg 2: guard */
	STEP_CAS,       /* arg 0: address, arg 1: data, arg 2: expected; tmp: what was there */
	STEP_CLEAR,     /* memory that becomes concrete; arg 0: address; k: how many bytes */
	STEP_CLEAR_REG, /* k: how many bytes from offset */
	STEP_EXIT,      /* arg 0: condition; k: where to; other: where else */
	STEP_NEXT,      /* arg 0: where to */
};

struct step_arg {
	ULong k; /* when tmp is NO_TMP: the constant; of a vector, one bit for each byte */
	UInt tmp;
	UShort bits;
	Bool is_mask;
};
#define NO_TMP 0xffffffffu
#define STEP_ARGS FLAGS_ARGS_MAX

struct step {
	UChar kind;
	UChar nargs;
	UShort bits; /* of the result, or of what is put */
	IROp op;
	UInt tmp;    /* the result */
	UInt offset; /* in the guest state */
	UShort from;
	ULong k;
	Addr other;
	const HChar *name;     /* of the function called */
	struct step_arg arg[]; /* nargs of them, the next step behind them */
};

#define TMPS 16384
/* what the machine computed, for the temporaries that are leaves */
extern ULong g_noted[TMPS][PARTS];
extern struct wide g_tmps[TMPS];

struct segment {     /* steps up to an exit of the block */
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
