/* Says that there are no copies and fills of any length (on amd64: rep movs): insn_decode() does
 * not know the instructions that do them on arm64 (MOPS). */
#include "internal.h"

void insn_bulk(const struct insn *in, const ucontext_t *uc, struct insn_bulk *b)
{
	(void)in, (void)uc, (void)b;
	rt_unsound("an instruction that accesses PM in an unknown way");
}

struct access insn_bulk_do(const struct insn *in, ucontext_t *uc, const struct insn_bulk *b)
{
	(void)in, (void)uc;
	return (struct access){ b->to.addr, 0, ACCESS_WRITE };
}
