/* What plain does, without a C library: static, with system calls of its own, as Go's programs are. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "pool.h"

void start(long *stack) __attribute__((noreturn, used));

/* The stack pointer at the start of the program points to the number of arguments, and behind it are these. */
#if defined(__x86_64__)
__asm__(".globl _start\n_start: xor %ebp, %ebp; mov %rsp, %rdi; and $-16, %rsp; call start");
#else
__asm__(".globl _start\n_start: mov x29, #0; mov x0, sp; bl start");
#endif

static long call6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d,
		      x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}

_Noreturn static void leave(int status)
{
	for (;;)
		call6(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

void start(long *stack)
{
	char **argv = (char **)(stack + 1);
	int is_check;
	long fd, size;
	struct pool *p;

	if (stack[0] != 3)
		leave(2);
	is_check = argv[1][0] == 'c';
	fd = call6(SYS_openat, AT_FDCWD, (long)argv[2], is_check ? O_RDWR : O_RDWR | O_CREAT, 0644, 0, 0);
	if (fd < 0)
		leave(is_check ? 0 : 2);
	if (!is_check && call6(SYS_ftruncate, fd, POOL_BYTES, 0, 0, 0, 0) < 0)
		leave(2);
	size = call6(SYS_lseek, fd, 0, 2, 0, 0, 0);
	if (size < (long)sizeof *p)
		leave(0);
	p = (struct pool *)call6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if ((unsigned long)p > -4096ul)
		leave(2);
	if (is_check)
		leave(pool_wrong(p));
	pool_first(p);
	pool_second(p);
	leave(0);
}
