/* A helper that steps from the address on leaves out the last line of a range that begins inside a line. It is not used, though the file does. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct root {
	_Alignas(64) uint64_t a;
	_Alignas(64) uint64_t b;
};

static void line_out(const void *at)
{
	MACHINE_FLUSH(at);
}

static void settle(void)
{
	MACHINE_FENCE();
}

static void out(const void *from, size_t len)
{
	for (size_t done = 0; done < len; done += 64)
		line_out((const char *)from + done);
}

void known(struct root *r);
void known(struct root *r)
{
	r->a = 1;
	out(&r->a, sizeof(r->a));
	settle();
}

void forgotten(struct root *r);
void forgotten(struct root *r)
{
	r->b = 2; /* BUG: missing-flush-fence */
	line_out(&r->b);
	settle();
}
