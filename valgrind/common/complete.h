/* What stock VEX lacks: instructions that it cannot decode, and that the processor says to have
 * them. */
#ifndef VG_COMPLETE_H
#define VG_COMPLETE_H

#include "valgrind/common/insn.h"

/* An instruction that was added to a block, and what it does to memory. Addresses are atoms. */
struct added_insn {
	struct insn insn;
	IRExpr *stored, *loaded; /* insn.size_bytes are; NULL: none */
};

/* Adds a statement together with what is missing in it. False: nothing is, and it was not added. */
Bool complete_stmt(IRSB *sb, IRStmt *st);
/* Mends the end of a block, which is a copy of `in`, if that is an instruction VEX cannot decode,
 * or one that ends a block for no good reason. True: an instruction was added. */
Bool complete_end(IRSB *sb, const IRSB *in, struct added_insn *added);

#endif
