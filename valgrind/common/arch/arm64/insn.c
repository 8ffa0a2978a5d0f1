/* Instructions of arm64: none is told apart yet, and VEX decodes all that the tracer meets. */
#include "valgrind/common/arch.h"

struct insn arch_decode(Addr pc, const UChar *code)
{
	return (struct insn){ .pc = pc, .len_bytes = 4 };
}

Bool arch_add_insn(IRSB *sb, struct added_insn *added)
{
	return False;
}

Bool arch_add_stmt(IRSB *sb, IRStmt *st)
{
	return False;
}
