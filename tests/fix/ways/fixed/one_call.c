/* A fence that is missing behind a flush: the file has one call for both. */
#include <stddef.h>
#include <stdint.h>

#include "tests/fix/ways/machine.h"

static void pm_flush(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
}

static void settle(void)
{
	MACHINE_FENCE();
}

static void keep(const void *from, size_t len)
{
	pm_flush(from, len);
	settle();
}

struct root {
	uint64_t a, b;
	char name[200];
};

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	keep(&r->a, sizeof(r->a));
	r->a = 2;
	r->name[0] = 'x';
	pm_flush(&r->a, sizeof(r->a));
	pm_flush(r->name, sizeof(r->name));
	settle();
}

void alone(struct root *r);
void alone(struct root *r)
{
	r->a = 1;
	keep(&r->a, sizeof(r->a)); /* BUG: missing-fence */
}

void in_branch(struct root *r, int is_named);
void in_branch(struct root *r, int is_named)
{
	r->name[0] = 'y';
	if (is_named)
		keep(r->name, sizeof(r->name)); /* BUG: missing-fence */
	else
		keep(&r->a, sizeof(r->a));
}

/* The fence is one for both: it stays one. */
void shared(struct root *r);
void shared(struct root *r)
{
	r->b = 1;
	r->name[0] = 'z';
	pm_flush(&r->b, sizeof(r->b));
	pm_flush(r->name, sizeof(r->name)); /* BUG: missing-fence */
	settle();
}

/* What it stores is durable when it returns: a fence of its caller's is none to lean on. */
static void durable(struct root *r)
{
	r->b = 2;
	keep(&r->b, sizeof(r->b));
	r->name[1] = 'd';
	keep(&r->name[1], sizeof(r->name[1]));
}

/* It leaves the fence to its caller. */
static void pending(struct root *r)
{
	r->b = 2;
	pm_flush(&r->b, sizeof(r->b));
	r->name[2] = 'p';
	pm_flush(&r->name[2], sizeof(r->name[2]));
}

void calls(struct root *r);
void calls(struct root *r)
{
	durable(r); /* BUG: missing-flush 2 in durable */
	pending(r); /* BUG: missing-flush 3 in pending */
	r->a = 3;
	keep(&r->a, sizeof(r->a));
}
