/* Reads and sets registers of a signal frame, and makes frames for children and for the program's
 * handlers. The floating-point state is a block of its own at the end of a frame; its header says
 * how long it is. */
#include <elf.h>
#include <string.h>

#include "arch.h"

#define FP_MAGIC 0x46505853u
#define FP_BYTES 512u
#define KERNEL_UCONTEXT_BYTES 304u /* the kernel's is shorter than glibc's ucontext_t */
#define TRAP_FLAG 0x100
#define DIRECTION_FLAG 0x400
#define RESUME_FLAG 0x10000
#define ERROR_WRITE 2
#define ERROR_FETCH 16

const uint16_t arch_elf_machine = EM_X86_64;
const uint32_t arch_call_bytes = 2;

uint64_t frame_pc(const ucontext_t *uc)
{
	return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}

void frame_set_pc(ucontext_t *uc, uint64_t pc)
{
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

uint64_t frame_sp(const ucontext_t *uc)
{
	return (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
}

uint32_t frame_fault(const ucontext_t *uc)
{
	const greg_t error = uc->uc_mcontext.gregs[REG_ERR];

	return error & ERROR_FETCH   ? ACCESS_FETCH
	       : error & ERROR_WRITE ? ACCESS_WRITE
				     : ACCESS_READ;
}

ucontext_t *frame_of_sigreturn(const ucontext_t *uc)
{
	/* the handler's return has already popped the return address below the frame */
	return (ucontext_t *)uc->uc_mcontext.gregs[REG_RSP];
}

uint64_t frame_return_slot(const ucontext_t *uc, uint64_t from, uint64_t cfa, uint64_t address)
{
	(void)uc, (void)from, (void)address;
	return cfa - 8;
}

bool frame_has_return(const ucontext_t *uc, uint64_t slot, uint64_t address)
{
	uint64_t is;

	(void)uc;
	return gate_copy(&is, (const void *)slot, sizeof is) == 0 && is == address;
}

static uint32_t fp_bytes(const ucontext_t *uc)
{
	const char *fp = (const char *)uc->uc_mcontext.fpregs;
	uint32_t magic, bytes = FP_BYTES;

	memcpy(&magic, fp + 464, 4);
	if (magic == FP_MAGIC)
		memcpy(&bytes, fp + 468, 4);
	return bytes;
}

uint64_t frame_child(const ucontext_t *uc, uint64_t at, uint64_t stack, const stack_t *own,
		     frame_write_fn *write)
{
	const uint32_t bytes = fp_bytes(uc);
	const uint64_t fp_at = (at - 256 - bytes) & ~63ul;
	ucontext_t child;

	at = (fp_at - KERNEL_UCONTEXT_BYTES) & ~63ul;
	memcpy(&child, uc, KERNEL_UCONTEXT_BYTES);
	child.uc_mcontext.gregs[REG_RSP] = (greg_t)stack;
	child.uc_mcontext.gregs[REG_RAX] = 0;
	child.uc_mcontext.fpregs = (void *)fp_at;
	if (own)
		child.uc_stack = *own;
	return write(fp_at, uc->uc_mcontext.fpregs, bytes) &&
			       write(at, &child, KERNEL_UCONTEXT_BYTES)
		       ? at
		       : 0;
}

static const char delivered;

bool frame_is_delivered(const ucontext_t *uc)
{
	return (const char *)uc->uc_link == &delivered;
}

/* Makes a signal frame for the program's handler, laid out as the kernel does it: return address,
 * ucontext, siginfo, and the floating-point state above them. */
bool frame_deliver(ucontext_t *uc, int sig, const siginfo_t *si, const struct frame_handler *h,
		   frame_write_fn *write)
{
	greg_t *g = uc->uc_mcontext.gregs;
	const uint32_t bytes = fp_bytes(uc);
	const uint64_t fp_at = (h->stack - bytes) & ~63ul,
		       at = ((fp_at - 8 - KERNEL_UCONTEXT_BYTES - sizeof *si) & ~15ul) - 8;
	const uint64_t uc_at = at + 8, si_at = uc_at + KERNEL_UCONTEXT_BYTES;
	ucontext_t kept;

	memcpy(&kept, uc, KERNEL_UCONTEXT_BYTES);
	kept.uc_mcontext.fpregs = (void *)fp_at;
	/* marks the frame as ours: the kernel's frames have 0 here */
	kept.uc_link = (ucontext_t *)&delivered;
	memcpy(&kept.uc_sigmask, &h->mask_after, sizeof h->mask_after);
	if (at < h->end || at > h->stack || !write(fp_at, uc->uc_mcontext.fpregs, bytes) ||
	    !write(si_at, si, sizeof *si) || !write(uc_at, &kept, KERNEL_UCONTEXT_BYTES) ||
	    !write(at, &h->restorer, 8))
		return false;
	g[REG_RIP] = (greg_t)h->function;
	g[REG_RSP] = (greg_t)at;
	g[REG_RDI] = sig;
	g[REG_RSI] = (greg_t)si_at;
	g[REG_RDX] = (greg_t)uc_at;
	g[REG_RAX] = 0;
	g[REG_EFL] &= ~(TRAP_FLAG | DIRECTION_FLAG | RESUME_FLAG);
	memcpy(&uc->uc_sigmask, &h->mask, sizeof h->mask);
	return true;
}

/* Makes the interrupted program execute one instruction. state[0] keeps whether the program itself
 * single-steps. */
void insn_step_begin(struct insn_step *s, const struct insn *in, ucontext_t *uc)
{
	(void)in;
	s->state[0] = (uint64_t)uc->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG;
	uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

bool insn_step_end(struct insn_step *s, ucontext_t *uc)
{
	if (!s->state[0])
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	return !s->state[0];
}
