/* Makes a system call of pmend's own on x86-64. The kernel takes six arguments in registers and
 * destroys rcx and r11. */
#include "valgrind/common/arch.h"

Long arch_syscall(Long number, Long a, Long b, Long c, Long d, Long e, Long f)
{
	Long result;
	register Long r10 __asm__("r10") = d;
	register Long r8 __asm__("r8") = e;
	register Long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
