/* The gate: Linux has no syscall user dispatch for arm64, so each `svc #0` of the process is replaced by a `udf` (patch.c), which ends in SIGILL with the whole frame. Calls from here
 * and from slots (slots.c) are left as they are. Faults in code that GATE_EXPECT() names are expected. */
#include "gate.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "internal.h"

__asm__(".text\n"
	".p2align 4\n"
	".globl rt_restore, rt_syscall, rt_return_to, rt_clone\n"
	".hidden rt_restore, rt_syscall, rt_return_to, rt_clone\n"

	"	nop\n" /* unwinders look up the return address less one: neither may have call frame information */
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
	"1:	mov x0, x19\n" /* the child: the gate is in its memory, as it is in ours */
	"	b rt_return_to\n"
	"	.cfi_endproc\n");

/* x0: bytes that are left; x1: from; x2: to. Words, then bytes, which also find out where words fault. */
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
	"	.cfi_endproc\n"
	GATE_EXPECT("2b", "3b", "4b")
	GATE_EXPECT("4b", "5b", "5b"));

size_t rt_copy(size_t n, const void *from, void *to);

const int gate_signal = SIGILL;
const bool gate_sees_return = false;
const char gate_lack[] = "system calls of the program cannot be caught (is /proc mounted?)";

static bool g_is_prepared, g_is_whole;

static bool patch_all(void)
{
	g_is_prepared = true;
	g_is_whole = patch_range(0, ~0ul);
	return g_is_whole;
}

/* Another thread may block gate_signal: it would not survive its next call. Children of fork() have one thread. */
static bool has_threads(void)
{
	struct stat st;

	return CALL4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) != 0 || st.st_nlink != 3; /* "." and ".." count */
}

bool gate_prepare(void)
{
	if (has_threads())
		return false;
	patch_all();
	return true;
}

bool gate_arm(void)
{
	return g_is_prepared ? g_is_whole : patch_all();
}

bool gate_watch(uint64_t start, uint64_t end)
{
	return patch_range(start, end);
}

/* The slot that stands for the word at pc; 0: none. */
static uint32_t slot_at(uint64_t pc)
{
	const uint32_t word = *(const uint32_t *)pc;

	return word < g_nslots ? word : 0;
}

bool gate_is_call(const siginfo_t *si)
{
	const uint64_t pc = (uint64_t)si->si_addr;
	const uint32_t slot = si->si_code > 0 && pc % 4 == 0 ? slot_at(pc) : 0;

	if (slot && g_slots[slot].back != pc + 4)
		rt_unsound("code that makes system calls was copied or moved");
	return slot != 0;
}

bool gate_call(const siginfo_t *si, ucontext_t *uc, long *number, long a[6])
{
	const mcontext_t *m = &uc->uc_mcontext;

	*number = (long)m->regs[8];
	for (int i = 0; i < 6; i++)
		a[i] = (long)m->regs[i];
	uc->uc_mcontext.pc = (uint64_t)si->si_addr + 4;
	return true;
}

void gate_set_result(ucontext_t *uc, long result)
{
	uc->uc_mcontext.regs[0] = (uint64_t)result;
}

bool gate_is_escape(long number, const long a[6])
{
	(void)number, (void)a;
	return false;
}

/* The slot finds where to go by itself. Unwinders find it on the stack, below what the program uses: the kernel's own note of the same kind is there, which nobody needs. */
void gate_pass(ucontext_t *uc, struct gate_return *back)
{
	mcontext_t *m = &uc->uc_mcontext;
	const uint32_t slot = slot_at(m->pc - 4);

	(void)back;
	m->sp -= 16;
	*(uint64_t *)m->sp = m->pc;
	m->pc = (uint64_t)g_slots[slot].code;
}

size_t gate_copy(void *to, const void *from, size_t n)
{
	return rt_copy(n, from, to);
}

struct expected {
	int32_t begin, end, to; /* each from its own place */
};
extern const struct expected __start_rt_expected[] __attribute__((visibility("hidden"))), __stop_rt_expected[] __attribute__((visibility("hidden")));

bool gate_catch(ucontext_t *uc)
{
	const uint64_t pc = uc->uc_mcontext.pc;

	for (const struct expected *e = __start_rt_expected; e < __stop_rt_expected; e++) {
		const uint64_t begin = (uint64_t)&e->begin + (uint64_t)(int64_t)e->begin, end = (uint64_t)&e->end + (uint64_t)(int64_t)e->end;

		if (pc - begin >= end - begin)
			continue;
		uc->uc_mcontext.pc = (uint64_t)&e->to + (uint64_t)(int64_t)e->to;
		return true;
	}
	return false;
}
