/* Gives pieces of a pool, one line each. */
#include "tests/cli/vendor/pmalloc.h"

void *pmalloc(struct pmalloc *a, size_t len_bytes)
{
	uint64_t *header = (uint64_t *)((uintptr_t)a + 64 * (a->used + 1));

	*header = len_bytes; /* HEADER */
	a->used++;
	return header + 1;
}
