/* Registers of a signal frame, and frames for children. A frame ends in the floating-point state, which is a block of its own, of a size that it names itself. */
#include <elf.h>
#include <string.h>

#include "arch.h"

#define FP_MAGIC 0x46505853u
#define FP_BYTES 512u
#define KERNEL_UCONTEXT_BYTES 304u /* glibc's ucontext_t is longer */
#define TRAP_FLAG 0x100
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

	return error & ERROR_FETCH ? ACCESS_FETCH : error & ERROR_WRITE ? ACCESS_WRITE : ACCESS_READ;
}

ucontext_t *frame_of_sigreturn(const ucontext_t *uc)
{
	return (ucontext_t *)uc->uc_mcontext.gregs[REG_RSP]; /* the handler has returned by the address before it */
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

uint64_t frame_child(const ucontext_t *uc, uint64_t stack, bool is_thread, bool (*write)(uint64_t to, const void *from, size_t n))
{
	const char *fp = (const char *)uc->uc_mcontext.fpregs;
	uint32_t magic, bytes = FP_BYTES;
	uint64_t fp_at, at;
	ucontext_t child;

	memcpy(&magic, fp + 464, 4);
	if (magic == FP_MAGIC)
		memcpy(&bytes, fp + 468, 4);
	fp_at = (stack - 256 - bytes) & ~63ul;
	at = (fp_at - KERNEL_UCONTEXT_BYTES) & ~63ul;
	memcpy(&child, uc, KERNEL_UCONTEXT_BYTES);
	child.uc_mcontext.gregs[REG_RSP] = (greg_t)stack;
	child.uc_mcontext.gregs[REG_RAX] = 0;
	child.uc_mcontext.fpregs = (void *)fp_at;
	if (is_thread) {
		child.uc_stack.ss_sp = NULL;
		child.uc_stack.ss_size = 0;
		child.uc_stack.ss_flags = SS_DISABLE;
	}
	return write(fp_at, fp, bytes) && write(at, &child, KERNEL_UCONTEXT_BYTES) ? at : 0;
}

/* state[0]: the program itself single-steps. */
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
