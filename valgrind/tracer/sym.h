/* What the files of the tracer share. The tracer is a Valgrind tool, as the recorder is: one process image, one thread of it at a time, hence plain
 * global state. Values of registers, temporaries and memory are `struct val` (explore/expr.h); whatever does not depend on the input has id 0. */
#ifndef SYM_H
#define SYM_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

#include "explore/expr/expr.h"
#include "pmpath.h"

extern struct expr_pool *g_pool;

/* ---- a value of up to 256 bits, in parts of 64; bits beyond its width are 0 ---- */
#define PARTS 4
struct wide {
	struct val part[PARTS];
};
struct val val_cut(struct val v, UInt from_bits, UInt low, UInt n); /* expr_extract */
Bool wide_is_symbolic(const struct wide *w);
UInt bits_of(IRType type);

/* ---- cells.c: shadow of registers and memory ---- */
#define LINE_SHIFT 6
#define LINES (1u << 20)
extern UChar g_lines[LINES]; /* nonzero: there may be symbolic bytes in this line of 64 bytes (modulo 64 MiB), or shortly behind it */
#define REG_BYTES_MAX 4096
extern ULong g_dirty_regs; /* a bit for each group of registers that may be symbolic (see reg_bit); of the running thread */
ULong reg_bit(Int offset);
struct val reg_get(UInt offset, UInt nbytes, ULong concrete); /* what it is, as the machine has that value in it */
void reg_put(UInt offset, UInt nbytes, struct val v);
void reg_switch(ThreadId tid);
void reg_forget(ThreadId tid, UInt offset, UInt nbytes);
struct val mem_get(Addr a, UInt nbytes, ULong concrete);
void mem_put(Addr a, UInt nbytes, struct val v);
void mem_input(Addr a, SizeT len, ULong first_index); /* these bytes are the input's, from that index */
void mem_forget(Addr a, SizeT len);
Bool mem_is_symbolic(Addr a, SizeT len);

/* ---- ops.c, vector.c: operations of the intermediate representation ---- */
#define OPS_MAX 2048
/* Finds an operation in a table: 1 + the number of its row, or 0. index: OPS_MAX bytes, zeros at first. */
UInt row_number(IROp op, UChar *index, const void *rows_of, SizeT row_bytes, UInt nrows);
Bool op_is_known(IROp op);
Bool op_apply(IROp op, const struct wide *args, struct wide *result); /* False: not one that we know, or not with these operands */
Bool vector_is_known(IROp op);
Bool op_is_partial(IROp op); /* some operands it cannot do; then the machine's value is used */
Bool vector_is_partial(IROp op);
Bool vector_apply(IROp op, const struct wide *args, struct wide *result);
/* flags_amd64.c, flags_arm64.c: the helper functions of that name; False as above */
Bool flags_apply(const HChar *name, const struct val *args, struct val *result);
Bool flags_is_known(const HChar *name);

/* ---- steps.c: blocks of code ---- */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents, const VexArchInfo *arch,
		 IRType guest_word, IRType host_word);

enum step_kind {
	STEP_INSN, /* k: pc */
	STEP_LEAF, /* a temporary whose value the machine noted; args: what it was made of */
	STEP_MOVE, /* a copy or constant */
	STEP_OP,
	STEP_ITE,
	STEP_CALL, /* of a helper that computes flags; noted, too */
	STEP_GET,
	STEP_PUT,
	STEP_LOAD,    /* arg 0: address; noted */
	STEP_LOAD_IF, /* arg 0: address, arg 1: guard, arg 2: alternative; `from` bits are loaded and widened, by sign if k; noted */
	STEP_STORE,   /* arg 0: address, arg 1: data, arg 2: guard */
	STEP_CAS,     /* arg 0: address, arg 1: data, arg 2: expected; tmp: what was there */
	STEP_CLEAR,   /* memory that becomes concrete; arg 0: address; k: how many bytes */
	STEP_CLEAR_REG, /* k: how many bytes from offset */
	STEP_EXIT,    /* arg 0: condition; k: where to; other: where else */
	STEP_NEXT,    /* arg 0: where to */
};

struct step_arg {
	ULong k; /* when tmp is NO_TMP: the constant; of a vector, one bit for each byte */
	UInt tmp;
	UShort bits;
	Bool is_mask;
};
#define NO_TMP 0xffffffffu
#define STEP_ARGS 5 /* the condition helpers' */

struct step {
	UChar kind;
	UChar nargs;
	UShort bits;   /* of the result, or of what is put */
	IROp op;
	UInt tmp;      /* the result */
	UInt offset;   /* in the guest state */
	UShort from;
	ULong k;
	Addr other;
	const HChar *name; /* of the function called */
	struct step_arg arg[]; /* nargs of them, the next step behind them */
};

#define TMPS 16384
extern ULong g_noted[TMPS][PARTS]; /* what the machine computed, for the temporaries that are leaves */
extern struct wide g_tmps[TMPS];

struct segment { /* steps up to an exit of the block */
	UInt number; /* in its block, from 0 */
	UInt nsteps;
	UChar *steps;
	struct segment *previous;
};

static inline const struct step *step_next(const struct step *s)
{
	return (const struct step *)(s->arg + s->nargs);
}

/* ---- shadow.c: runs them beside the machine ---- */
VG_REGPARM(1) void shadow_run(struct segment *s);
extern ULong g_progress; /* segments of the running block that were run */
extern Bool clo_check; /* compare each value with the machine's */

/* ---- path.c: the file ---- */
Bool path_open(const HChar *file);
void path_close(Int status);
void path_branch(Addr pc, struct val condition, Addr went, Addr other);
void path_pin(Addr pc, struct val v, enum pmp_pin why);
void path_jump(Addr pc, Addr to);
void path_token(Addr pc, ULong index, UInt nbytes, const UChar *wanted, UInt nwanted);
void path_cover(Addr pc, UInt nbytes);
void path_bad(Addr pc, ULong expression, ULong machine, IROp op, const HChar *name);
void path_fork_child(void);
VG_REGPARM(2) void path_call(Addr ret, Addr sp);
enum count { COUNT_ADDRESS, COUNT_JUMP, COUNT_GUARD, COUNT_LOST, COUNT_TABLE, COUNTS };
void count(enum count what);
void count_leaf(IROp op, const HChar *name); /* an operation made something symbolic concrete */

/* ---- bounds.c: how large expressions can be on this path ---- */
void bound_note(struct val condition); /* a branch depends on it */
ULong bound_of(UInt id);

/* ---- table.c: loads from an address that depends on the input ---- */
Bool table_load(struct val address, UInt bits, ULong noted, struct val *result); /* False: not one that can be tabulated */

/* ---- token.c: comparisons of words ---- */
void token_compared(ThreadId tid, Addr a, Addr b, ULong max); /* two strings that are not equal, of which max bytes count */

/* ---- sources.c: where the input comes in ---- */
Bool sources_option(const HChar *arg);
void sources_startup(ThreadId tid);
void sources_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result);

#endif
