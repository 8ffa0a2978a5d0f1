/* The fence comes before the answer: one that other work has later is none of this operation's. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/fix/ways/machine.h"

struct root {
	uint64_t a, b;
};

static void put(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
}

static void settle(void)
{
	MACHINE_FENCE();
}

void next_request(struct root *r);
void next_request(struct root *r)
{
	r->a++;
	put(&r->a, sizeof r->a);
	settle();
}

void said(struct root *r);
void said(struct root *r)
{
	r->b = 1; /* BUG: missing-flush */
	puts("done");
	settle();
}

void returned(struct root *r);
void returned(struct root *r)
{
	r->b = 2; /* BUG: missing-flush */
}

void seldom(struct root *r, int n);
void seldom(struct root *r, int n)
{
	r->b = 3; /* BUG: missing-flush */
	if (n)
		settle();
}

void in_time(struct root *r, int n);
void in_time(struct root *r, int n)
{
	if (n) {
		r->b = 4; /* BUG: missing-flush */
		n++;
	}
	r->a = (uint64_t)n;
	put(&r->a, sizeof r->a);
	settle();
	puts("done");
}

void answered(struct root *r);
void answered(struct root *r)
{
	r->b = 5; /* BUG: ack-before-durable */
	puts("done");
}

void another(struct root *r);
void another(struct root *r)
{
	r->b = 6; /* BUG: missing-flush */
	next_request(r);
}
