/* The gate. Linux has no syscall user dispatch for arm64, so each `svc #0` of the process is
 * replaced by a `udf` (catch.c), which ends in SIGILL with the whole frame. Calls in this file and
 * in slots (slots.c) are not replaced. Faults in code that GATE_EXPECT() names are expected. */
#include "gate.h"

#include "internal.h"

__asm__(".text\n"
	".p2align 4\n"
	".globl rt_restore, rt_syscall, rt_return_to, rt_clone\n"
	".hidden rt_restore, rt_syscall, rt_return_to, rt_clone\n"

	/* unwinders look up the return address minus 1, so neither word may have call frame
	 * information */
	"	nop\n"
	"rt_restore:\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	"	nop\n"

	"rt_syscall:\n"
	"	.cfi_startproc\n"
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	mov x2, x3\n"
	"	mov x3, x4\n"
	"	mov x4, x5\n"
	"	mov x5, x6\n"
	"	svc #0\n"
	"	ret\n"
	"	.cfi_endproc\n"

	"rt_return_to:\n"
	"	sub x0, x0, #128\n" /* the frame begins with siginfo_t */
	"	mov sp, x0\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	"	brk #1\n"

	"rt_clone:\n"
	"	.cfi_startproc\n"
	"	stp x19, x30, [sp, #-16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	.cfi_rel_offset x19, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	mov x19, x2\n"
	"	mov x8, x0\n"
	"	mov x9, x1\n"
	"	ldp x0, x1, [x9]\n"
	"	ldp x2, x3, [x9, #16]\n"
	"	ldp x4, x5, [x9, #32]\n"
	"	svc #0\n"
	"	cbz x0, 1f\n"
	"	ldp x19, x30, [sp], #16\n"
	"	ret\n"
	"1:	mov x0, x19\n" /* the child: it has our memory, with the replaced calls */
	"	b rt_return_to\n"
	"	.cfi_endproc\n");

/* rt_copy(): x0: number of bytes left; x1: from; x2: to. Copies words, then bytes; after a fault of
 * a word, copying bytes finds the exact place. */
__asm__(".text\n"
	".p2align 4\n"
	".globl rt_copy\n"
	".hidden rt_copy\n"
	"rt_copy:\n"
	"	.cfi_startproc\n"
	"1:	cmp x0, #8\n"
	"	b.lo 3f\n"
	"2:	ldr x3, [x1]\n"
	"	str x3, [x2]\n"
	"	add x1, x1, #8\n"
	"	add x2, x2, #8\n"
	"	sub x0, x0, #8\n"
	"	b 1b\n"
	"3:	cbz x0, 5f\n"
	"4:	ldrb w3, [x1]\n"
	"	strb w3, [x2]\n"
	"	add x1, x1, #1\n"
	"	add x2, x2, #1\n"
	"	sub x0, x0, #1\n"
	"	b 3b\n"
	"5:	ret\n"
	"	.cfi_endproc\n" GATE_EXPECT("2b", "3b", "4b") GATE_EXPECT("4b", "5b", "5b"));

size_t rt_copy(size_t n, const void *from, void *to);

void gate_set_result(ucontext_t *uc, long result)
{
	uc->uc_mcontext.regs[0] = (uint64_t)result;
}

size_t gate_copy(void *to, const void *from, size_t n)
{
	return rt_copy(n, from, to);
}

struct expected {
	int32_t begin, end, to; /* distances, each from its own field */
};
extern const struct expected __start_rt_expected[] __attribute__((visibility("hidden"))),
	__stop_rt_expected[] __attribute__((visibility("hidden")));

bool gate_catch(ucontext_t *uc)
{
	const uint64_t pc = uc->uc_mcontext.pc;

	for (const struct expected *e = __start_rt_expected; e < __stop_rt_expected; e++) {
		const uint64_t begin = (uint64_t)&e->begin + (uint64_t)(int64_t)e->begin,
			       end = (uint64_t)&e->end + (uint64_t)(int64_t)e->end;

		if (pc - begin >= end - begin)
			continue;
		uc->uc_mcontext.pc = (uint64_t)&e->to + (uint64_t)(int64_t)e->to;
		return true;
	}
	return false;
}
