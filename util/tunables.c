/* Makes the C library choose the same string functions (memcpy, strlen, …) on every machine. It
 * chooses by the processor, and its variants read beyond the end of strings by different lengths
 * and copy in pieces of different sizes, so what a recording holds and what recovery reads would
 * depend on the machine. The variants chosen here run on every amd64 processor and under
 * Valgrind. */
#include "util/tunables.h"

#include <stdlib.h>

#include "util/alloc.h"

/* Nothing for arm64: there, the C library (2.36) has only glibc.cpu.name, and static PIE programs
 * that get it crash before main(). On amd64 from 2.40 on, memset() of big ranges depends on
 * Avoid_Non_Temporal_Memset, too; an older library ignores that name. */
#ifdef __x86_64__
#define PLAINEST \
	"glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-AVX_Fast_Unaligned_Load," \
	"-SSSE3,-SSE4_1,-SSE4_2,-ERMS,-FSRM,-SHSTK,Avoid_Non_Temporal_Memset"
#else
#define PLAINEST ""
#endif

char *tunables_env(void)
{
	const char *asked = getenv("GLIBC_TUNABLES");

	if (!asked)
		asked = "";
	return xasprintf("GLIBC_TUNABLES=%s%s%s", PLAINEST, *PLAINEST && *asked ? ":" : "", asked);
}
