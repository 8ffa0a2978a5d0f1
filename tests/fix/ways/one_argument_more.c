/* A fence that is missing behind a flush: an argument of it says so. */
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

static void pm_flush(bool waits, size_t len, const void *from)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
	if (waits)
		MACHINE_FENCE();
}

struct root {
	uint64_t a, b;
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	pm_flush(true, sizeof(r->a), &r->a);
}

void alone(struct root *r);
void alone(struct root *r)
{
	r->b = 1;
	pm_flush(false, sizeof(r->b), &r->b); /* BUG: missing-fence */
}
