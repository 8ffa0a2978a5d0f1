/* A number that is a system call for whoever jumps there. */
long f(void);

__asm__(".text\n"
	".globl f\n"
	".type f, @function\n"
	"f:\n"
	"	.cfi_startproc\n"
	"	xor %eax, %eax\n"
	"	test %eax, %eax\n"
	"	jnz 1f + 1\n"
	"1:	mov $0x050f, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size f, . - f\n");
