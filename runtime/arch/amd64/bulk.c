/* Does a whole rep movs or rep stos at once. It keeps the direction and element size, so that
 * overlapping ranges give the same result. Afterwards, the registers are those of the finished
 * instruction, or of an interrupted one. */
#include "arch.h"
#include "gate.h"

#define DIRECTION_FLAG 0x400
#define BULK_MAX (1u << 30)

/* Gives the range of memory that the instruction accesses, if its first element is at addr. With
 * the direction flag, the first element is the highest. */
static struct access range(uint64_t addr, const struct insn *in, const ucontext_t *uc,
			   uint32_t kind)
{
	uint64_t n = (uint64_t)uc->uc_mcontext.gregs[REG_RCX], bytes;
	bool is_down = uc->uc_mcontext.gregs[REG_EFL] & DIRECTION_FLAG;

	if (n > BULK_MAX / in->element_bytes)
		n = BULK_MAX / in->element_bytes;
	bytes = n * in->element_bytes;
	return (struct access){ is_down ? addr - bytes + in->element_bytes : addr, (uint32_t)bytes,
				kind };
}

void insn_bulk(const struct insn *in, const ucontext_t *uc, struct insn_bulk *b)
{
	const greg_t *g = uc->uc_mcontext.gregs;

	b->to = range((uint64_t)g[REG_RDI], in, uc, ACCESS_WRITE);
	b->from = in->kind == INSN_COPY ? range((uint64_t)g[REG_RSI], in, uc, ACCESS_READ)
					: (struct access){ 0 };
}

struct access insn_bulk_do(const struct insn *in, ucontext_t *uc, const struct insn_bulk *b)
{
	greg_t *g = uc->uc_mcontext.gregs;
	const uint64_t all = b->to.len_bytes / in->element_bytes;
	struct gate_string s = { (uint64_t)g[REG_RDI], (uint64_t)g[REG_RSI], all,
				 (uint64_t)g[REG_RAX], (uint64_t)g[REG_EFL] };
	struct access written = b->to;

	rt_string(&s, in->element_bytes, in->kind == INSN_FILL);
	written.len_bytes = (uint32_t)((all - s.rcx) * in->element_bytes);
	if (g[REG_EFL] & DIRECTION_FLAG)
		written.addr += s.rcx * in->element_bytes;
	if (all == s.rcx)
		return written;
	g[REG_RDI] = (greg_t)s.rdi;
	if (in->kind == INSN_COPY)
		g[REG_RSI] = (greg_t)s.rsi;
	g[REG_RCX] -= (greg_t)(all - s.rcx);
	if (g[REG_RCX] == 0)
		g[REG_RIP] += in->len_bytes;
	return written;
}
