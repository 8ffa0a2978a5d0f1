/* Maps memory within reach of a branch. It is mapped below the code that needs it, since the
 * program's heap grows above its code. */
#include <sys/mman.h>

#include "internal.h"
#include "near.h"

#define REACH (127ul << 20) /* a branch reaches 128 MiB; the rest is for the length of the memory */

bool near_reaches(uint64_t from, uint64_t to)
{
	return to - from + REACH < 2 * REACH;
}

uint64_t near_map(uint64_t site, uint64_t len_bytes, int prot)
{
	const uint64_t lowest = site > REACH ? site - REACH : NEAR_STEP;

	for (uint64_t at = (site & ~(NEAR_STEP - 1)) - len_bytes; at >= lowest && at < site;
	     at -= NEAR_STEP) {
		const long is = CALL6(SYS_mmap, at, len_bytes, prot,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (IS_ERROR(is))
			continue;
		if ((uint64_t)is == at)
			return at;
		CALL2(SYS_munmap, is, len_bytes); /* an old kernel ignores MAP_FIXED_NOREPLACE */
	}
	return 0;
}
