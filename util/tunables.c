/* Which of its functions for strings and copies the C library takes. It chooses by the processor,
 * and its choices read beyond the end of strings by different lengths, and copy in pieces of
 * different sizes: what a recording holds and what recovery reads would depend on the machine. So
 * the choice is one that every processor of an architecture has, and that Valgrind knows. */
#include "util/tunables.h"

#include <stdlib.h>

#include "util/alloc.h"

/* Nothing for arm64: the C library (2.36) has one name for its choice there, glibc.cpu.name, and
 * static PIE programs die of it before main(). From 2.40 on, memset() for big ranges depends on
 * Avoid_Non_Temporal_Memset, too; an older library passes over that name. */
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
