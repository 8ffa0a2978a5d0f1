/* From one address to another. */
#include <stdint.h>
#include <string.h>

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

static void put_bytes(const char *from, const char *to)
{
	put(from, to);
}

void cast(struct root *r, const char *name, uint64_t n);
void cast(struct root *r, const char *name, uint64_t n)
{
	put_bytes((const char *)&r->a, (const char *)(&r->a + 1));
	put_bytes((const char *)&r->b, (const char *)(&r->b + 1));
	r->a = n; /* BUG: missing-flush-fence */
	if (n > 3)
		memcpy(r->name, name, n); /* BUG: missing-flush-fence */
}
