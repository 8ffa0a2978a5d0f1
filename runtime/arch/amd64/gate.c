/* The gate: the assembly whose system calls go to the kernel (all others are caught, catch.c), and
 * memory accesses that may fault. rt_pass makes a call for the program: our handler returns to
 * rt_pass with rsp at a struct gate_return; rt_pass makes the call and jumps to the pc stored
 * there. */
#include "gate.h"

#include "arch.h"

extern const char rt_pass[];
extern const char rt_string_begin[], rt_string_end[], rt_access_begin[], rt_access_end[],
	rt_access_failed[];

__asm__(".text\n"
	".p2align 6\n"
	".globl rt_gate_begin, rt_gate_end, rt_restore, rt_pass, rt_syscall, rt_return_to, rt_clone\n"
	".hidden rt_gate_begin, rt_gate_end, rt_restore, rt_pass, rt_syscall, rt_return_to, rt_clone\n"
	"rt_gate_begin:\n"

	/* unwinders look up the return address minus 1, so neither byte may have call frame
	 * information */
	"	nop\n"
	"rt_restore:\n"
	"	.byte 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0\n" /* mov $15, %rax with a 32-bit immediate */
	"	syscall\n"
	"	nop\n"

	"rt_syscall:\n"
	"	.cfi_startproc\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	mov %r9, %r8\n"
	"	mov 8(%rsp), %r9\n"
	"	syscall\n"
	"	ret\n"
	"	.cfi_endproc\n"

	"rt_pass:\n"
	"	.cfi_startproc\n"
	"	.cfi_escape 0x0f, 3, 0x77, 8, 0x06\n" /* the frame address is stored at rsp + 8, */
	"	.cfi_escape 0x10, 16, 2, 0x77, 0\n"   /* the return address is at rsp */
	"	syscall\n"
	"	mov (%rsp), %rcx\n"
	"	mov 8(%rsp), %rsp\n"
	"	.cfi_def_cfa %rsp, 0\n"
	"	.cfi_register %rip, %rcx\n"
	"	jmp *%rcx\n"
	"	.cfi_endproc\n"

	"rt_return_to:\n"
	"	mov %rdi, %rsp\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	"	hlt\n"

	"rt_clone:\n"
	"	.cfi_startproc\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %r12, 0\n"
	"	mov %rdx, %r12\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %r11\n"
	"	mov (%r11), %rdi\n"
	"	mov 8(%r11), %rsi\n"
	"	mov 16(%r11), %rdx\n"
	"	mov 24(%r11), %r10\n"
	"	mov 32(%r11), %r8\n"
	"	mov 40(%r11), %r9\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jz 1f\n"
	"	pop %r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %r12\n"
	"	ret\n"
	"1:	cmpb $0, rt_dispatches(%rip)\n"
	"	je 2f\n"
	"	mov $157, %eax\n" /* prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, gate) */
	"	mov $59, %edi\n"
	"	mov $1, %esi\n"
	"	lea rt_gate_begin(%rip), %rdx\n"
	"	mov $rt_gate_end - rt_gate_begin, %r10d\n"
	"	xor %r8d, %r8d\n"
	"	syscall\n"
	"2:	mov %r12, %rsp\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	"rt_gate_end:\n"
	"	nop\n");

#define REP(label, instruction) \
	"	.p2align 3\n" label ":	" instruction "\n	jmp rt_string_end\n"

__asm__(".globl rt_string, rt_string_begin, rt_string_end\n"
	".hidden rt_string, rt_string_begin, rt_string_end\n"
	".p2align 4\n"
	"rt_string:\n"
	"	.cfi_startproc\n"
	"	mov %rdi, %r8\n"
	"	bsf %rsi, %r9\n"
	"	shl $2, %rdx\n"
	"	add %rdx, %r9\n"
	"	lea rt_string_begin(%rip), %r10\n"
	"	lea (%r10,%r9,8), %r10\n"
	"	mov (%r8), %rdi\n"
	"	mov 8(%r8), %rsi\n"
	"	mov 16(%r8), %rcx\n"
	"	mov 24(%r8), %rax\n"
	"	testl $0x400, 32(%r8)\n"
	"	jz 1f\n"
	"	std\n"
	"1:	jmp *%r10\n"
	".p2align 3\n"
	"rt_string_begin:\n" REP("2", "rep movsb") REP("2", "rep movsw") REP("2", "rep movsl")
		REP("2", "rep movsq") REP("2", "rep stosb") REP("2", "rep stosw")
			REP("2", "rep stosl") REP("2", "rep stosq") "rt_string_end:\n"
								    "	cld\n"
								    "	mov %rdi, (%r8)\n"
								    "	mov %rsi, 8(%r8)\n"
								    "	mov %rcx, 16(%r8)\n"
								    "	ret\n"
								    "	.cfi_endproc\n");

#define MOVE(instruction) "	.p2align 3\n	" instruction "\n	jmp rt_access_end\n"

__asm__(".globl rt_access, rt_access_begin, rt_access_end, rt_access_failed\n"
	".hidden rt_access, rt_access_begin, rt_access_end, rt_access_failed\n"
	".p2align 4\n"
	"rt_access:\n"
	"	.cfi_startproc\n"
	"	mov %rdi, %r8\n"
	"	bsf %rsi, %r9\n"
	"	shl $2, %rdx\n"
	"	add %rdx, %r9\n"
	"	lea rt_access_begin(%rip), %r10\n"
	"	lea (%r10,%r9,8), %r10\n"
	"	mov (%r8), %rdi\n"
	"	mov 8(%r8), %rax\n"
	"	jmp *%r10\n"
	".p2align 3\n"
	"rt_access_begin:\n" MOVE("movzbl (%rdi), %eax") MOVE("movzwl (%rdi), %eax")
		MOVE("movl (%rdi), %eax") MOVE("movq (%rdi), %rax") MOVE("movb %al, (%rdi)")
			MOVE("movw %ax, (%rdi)") MOVE("movl %eax, (%rdi)")
				MOVE("movq %rax, (%rdi)") "rt_access_end:\n"
							  "	mov %rax, 8(%r8)\n"
							  "	mov $1, %eax\n"
							  "	ret\n"
							  "rt_access_failed:\n"
							  "	xor %eax, %eax\n"
							  "	ret\n"
							  "	.cfi_endproc\n");

bool rt_dispatches;
const uint32_t arch_red_bytes = 128;

void gate_set_result(ucontext_t *uc, long result)
{
	uc->uc_mcontext.gregs[REG_RAX] = result;
}

bool gate_pass(ucontext_t *uc, struct gate_return *back)
{
	greg_t *g = uc->uc_mcontext.gregs;
	const struct gate_return to = { (uint64_t)g[REG_RIP], (uint64_t)g[REG_RSP] };

	if (!back)
		back = (struct gate_return *)((to.sp - arch_red_bytes - sizeof to) & ~15ul);
	if (gate_copy(back, &to, sizeof to) != 0)
		return false;
	g[REG_RIP] = (greg_t)(uint64_t)rt_pass;
	g[REG_RSP] = (greg_t)(uint64_t)back;
	return true;
}

size_t gate_copy(void *to, const void *from, size_t n)
{
	struct gate_string s = { (uint64_t)to, (uint64_t)from, n, 0, 0 };

	rt_string(&s, 1, 0);
	return s.rcx;
}

bool gate_catch(ucontext_t *uc)
{
	const uint64_t pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	if (pc - (uint64_t)rt_string_begin < (uint64_t)(rt_string_end - rt_string_begin))
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)rt_string_end;
	else if (pc - (uint64_t)rt_access_begin < (uint64_t)(rt_access_end - rt_access_begin))
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)rt_access_failed;
	else
		return false;
	return true;
}
