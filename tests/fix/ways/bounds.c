/* From one address to another. */
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct root {
	uint64_t a, b;
	char name[100];
};

static void put(const void *from, const void *to)
{
	for (const char *p = (const char *)((uintptr_t)from & ~(uintptr_t)63); p < (const char *)to; p += 64)
		MACHINE_FLUSH(p);
	MACHINE_FENCE();
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	put(&r->a, &r->a + 1);
}

void stores(struct root *r);
void stores(struct root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
}
