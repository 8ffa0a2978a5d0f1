/* Under a test of a flag, as the rest of the file does it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

static bool on_pm;

struct root {
	uint64_t a, b;
	char name[100];
};

static void save(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}

void start(bool is_pm);
void start(bool is_pm)
{
	on_pm = is_pm;
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	if (on_pm)
		save(&r->a, sizeof r->a);
}

void stores(struct root *r, int n);
void stores(struct root *r, int n)
{
	r->b = 1; /* BUG: missing-flush-fence */
	if (on_pm)
		save(&r->b, sizeof r->b);
	if (n > 2) {
		r->a = 3; /* BUG: missing-flush-fence */
		if (on_pm)
			save(&r->a, sizeof r->a);
	}
	if (on_pm) {
		r->a = 4; /* BUG: missing-flush-fence */
		save(&r->a, sizeof r->a);
	}
}
