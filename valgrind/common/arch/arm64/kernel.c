/* Makes a system call of pmend's own on arm64: number in x8, arguments and result from x0 on. */
#include "valgrind/common/arch.h"

Long arch_syscall(Long number, Long a, Long b, Long c, Long d, Long e, Long f)
{
	register Long x8 __asm__("x8") = number;
	register Long x0 __asm__("x0") = a;
	register Long x1 __asm__("x1") = b;
	register Long x2 __asm__("x2") = c;
	register Long x3 __asm__("x3") = d;
	register Long x4 __asm__("x4") = e;
	register Long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
