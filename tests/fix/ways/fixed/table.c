/* Through pointers: of a table of operations, and of a variable. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

struct root {
	uint64_t a, b;
};

struct ops {
	void (*keep)(const void *from, size_t len);
	void (*wait)(void);
};

static void flush_range(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
}

static void fence(void)
{
	MACHINE_FENCE();
}

static const struct ops ops = { .keep = flush_range, .wait = fence };

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	ops.keep(&r->a, sizeof r->a);
	ops.wait();
}

void stores(struct root *r);
void stores(struct root *r)
{
	r->b = 1; /* BUG: missing-flush-fence */
	ops.keep(&r->b, sizeof r->b);
	ops.wait();
}

/* A helper that goes through the table. */
static void save(const void *from, size_t len)
{
	ops.keep(from, len);
	ops.wait();
}

void saved(struct root *r);
void saved(struct root *r)
{
	r->a = 1;
	save(&r->a, sizeof r->a);
	r->a = 2;
	save(&r->a, sizeof r->a);
	r->b = 2; /* BUG: missing-flush-fence */
	save(&r->b, sizeof r->b);
}
