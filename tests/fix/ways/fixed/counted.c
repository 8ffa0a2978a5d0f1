/* The length is a number of lines; a parameter more, as the file passes it. */
#include <stdbool.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct root {
	uint64_t a, b;
};

static void save(const void *from, unsigned nlines, bool wait)
{
	const char *p = from;

	for (unsigned i = 0; i < nlines; i++)
		MACHINE_FLUSH(p + 64 * i);
	if (wait)
		MACHINE_FENCE();
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	save(&r->a, 1, true);
}

void stores(struct root *r);
void stores(struct root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
	save(&r->b, 1, true);
}
