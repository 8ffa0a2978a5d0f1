/* Finds the signal frame with which a handler of the program calls rt_sigreturn, and copies signal
 * frames for children of clone(): a child begins by returning through its copy. A frame begins with
 * siginfo_t. What the fixed part of a frame cannot hold (wide vectors) is behind that part, at an
 * address that the frame contains. */
#include <asm/sigcontext.h>
#include <elf.h>
#include <string.h>

#include "arch.h"

#define INFO_BYTES 128u

const uint16_t arch_elf_machine = EM_AARCH64;
const uint32_t arch_call_bytes = 4;
const uint32_t arch_red_bytes = 0;

_Static_assert(sizeof(siginfo_t) == INFO_BYTES, "a frame begins with it");

void arch_init(void)
{
}

const char *arch_refusal(void)
{
	return NULL;
}

ucontext_t *frame_of_sigreturn(const ucontext_t *uc)
{
	return (ucontext_t *)(uc->uc_mcontext.sp + INFO_BYTES);
}

/* Finds the record that says where the frame continues; NULL: the frame has no further part. */
static struct extra_context *extra_of(const ucontext_t *uc)
{
	const char *at = (const char *)uc->uc_mcontext.__reserved,
		   *end = at + sizeof uc->uc_mcontext.__reserved;

	while (end - at >= (long)sizeof(struct extra_context)) {
		struct _aarch64_ctx *h = (struct _aarch64_ctx *)at;

		if (h->magic == EXTRA_MAGIC)
			return (struct extra_context *)h;
		if (h->magic == 0 || h->size < sizeof *h)
			break;
		at += h->size;
	}
	return NULL;
}

uint64_t frame_child(const ucontext_t *uc, uint64_t below, uint64_t stack, const stack_t *own,
		     frame_write_fn *write)
{
	const struct extra_context *extra = extra_of(uc);
	const uint64_t bytes = extra ? extra->datap - (uint64_t)uc + extra->size : sizeof *uc;
	const uint64_t at = (below - bytes - 256) & ~15ul;
	const uint64_t result = 0, datap = extra ? extra->datap - (uint64_t)uc + at : 0;

#define PUT(field, value) \
	write(at + (uint64_t)((const char *)&(field) - (const char *)uc), &(value), sizeof(value))
	if (!write(at, uc, bytes) || !PUT(uc->uc_mcontext.sp, stack) ||
	    !PUT(uc->uc_mcontext.regs[0], result))
		return 0;
	if ((extra && !PUT(extra->datap, datap)) || (own && !PUT(uc->uc_stack, *own)))
		return 0;
#undef PUT
	return at;
}

/* Never called on arm64. The return of a handler that is started in this way could not be seen
 * (gate_sees_return), so our handlers call the program's handlers instead. */
bool frame_deliver(ucontext_t *uc, int sig, const siginfo_t *si, const struct frame_handler *h,
		   frame_write_fn *write)
{
	(void)uc, (void)sig, (void)si, (void)h, (void)write;
	return false;
}

bool frame_is_delivered(const ucontext_t *uc)
{
	(void)uc;
	return false;
}
