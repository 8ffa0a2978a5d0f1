/* Adds what stock VEX lacks: instructions that it cannot decode, and the processor features for
 * them. */
#ifndef VG_COMPLETE_H
#define VG_COMPLETE_H

#include "valgrind/common/insn.h"

/* An instruction that was added to a block, and what it does to memory. Addresses are atoms. */
struct added_insn {
	struct insn insn;
	/* addresses of insn.size_bytes bytes; NULL if it does not store or load */
	IRExpr *stored, *loaded;
};

/* Adds a statement of VEX that lacks something, together with what it lacks. False if the statement
 * lacks nothing; then it was not added. */
Bool complete_stmt(IRSB *sb, IRStmt *st);
/* Completes the end of a block, which is a copy of `in`: adds an instruction that VEX could not
 * decode, or removes an end that is not needed. True if an instruction was added. */
Bool complete_end(IRSB *sb, const IRSB *in, struct added_insn *added);

#endif
