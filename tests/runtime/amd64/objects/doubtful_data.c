/* Data in the middle of a function, which looks like a system call. The function has a page of its own. */
long f(void);

__asm__(".text\n"
	".p2align 12\n"
	".globl f\n"
	".type f, @function\n"
	"f:\n"
	"	.cfi_startproc\n"
	"	mov 1f(%rip), %eax\n"
	"	jmp 2f\n"
	"1:	.long 0x9090050f\n"
	"2:	ret\n"
	"	.cfi_endproc\n"
	".size f, . - f\n"
	".p2align 12\n");
