/* Where a transaction begins and ends: jumps, returns, declarations that are used behind it, cases. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "thing.h"

int one_line(PMEMobjpool *pop, struct thing *t, int c)
{
	t->a = 1; /* TX */
	if (c)
		t->b = 2; /* TX */
	else
		t->b = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return c;
}

uint64_t used_after(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	uint64_t old = t->b;
	const uint64_t fixed = t->n;
	t->b = old + 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return old + fixed;
}

int leaves_loop(PMEMobjpool *pop, struct thing *t)
{
	int found = -1;

	for (int i = 0; i < 8; i++) {
		if (t->list[i])
			continue;
		t->list[i] = 7; /* TX */
		if (i == 5)
			break;
		t->n++; /* TX */
	}
	pmemobj_persist(pop, t, sizeof *t);
	return found;
}

int goes_to(PMEMobjpool *pop, struct thing *t)
{
	int result = -1;

	t->a = 1; /* TX */
	if (t->n)
		goto out;
	t->b = 2; /* TX */
	result = 0;
out:
	pmemobj_persist(pop, t, sizeof *t);
	return result;
}

struct thing *returns(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	for (int i = 0; i < 8; i++)
		if (t->list[i] == 3)
			return t->next;
	if (!t->next)
		return NULL;
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return t;
}

void switches(PMEMobjpool *pop, struct thing *t, int which)
{
	switch (which) {
	case 1:
		t->a = 1; /* TX */
		t->b = 1; /* TX */
		break;
	case 2:
		t->a = 2;
		break;
	default:
		break;
	}
	pmemobj_persist(pop, t, sizeof *t);
}

static jmp_buf g_env;

void jumps(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: may jump out */
	if (!pop)
		longjmp(g_env, 1);
	t->b = 2; /* TX */
}

uint64_t initialises(PMEMobjpool *pop, struct thing *t)
{
	uint64_t old = t->n++; /* TX */

	t->b = old; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return old;
}

int retry(PMEMobjpool *pop, struct thing *t)
{
	int n = 0;
again:
	t->a++; /* TX */
	if (n++ < 3)
		goto again;
	t->b++; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return n;
}

void falls_through(PMEMobjpool *pop, struct thing *t, int which)
{
	switch (which) {
	case 0:
		t->a = 1; /* TX */
		/* fallthrough */
	case 1:
		t->b = 1; /* TX */
		break;
	}
	pmemobj_persist(pop, t, sizeof *t);
}

void elseif(PMEMobjpool *pop, struct thing *t, int c, int d)
{
	if (c) t->a = 1; /* TX */
	else if (d)
		t->b = 2; /* TX */
	else
		t->n = 3;
	t->high = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

uint64_t keeps_buffer(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	char buf[8] = "abc";
	struct thing *next = t->next;
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return next->a + strlen(buf);
}

TOID_DECLARE(struct thing, 7);

TOID(struct thing) gives_handle(PMEMobjpool *pop, TOID(struct thing) t)
{
	D_RW(t)->a = 1; /* TX */
	if (D_RO(t)->n)
		return TOID_NULL(struct thing);
	D_RW(t)->b = 2; /* TX */
	return t;
}

const char *
gnu_style(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (t->n)
		return "n";
	t->b = 2; /* TX */
	return NULL;
}

int in_one_line(PMEMobjpool *pop, struct thing *t)
{
	if (t->n) { t->a = 1; if (t->b) return 7; t->b = 2; } /* TX */
	(void)pop;
	return 1;
}

int two_of_them(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (t->b)
		return 7;
	t->b = 2; /* TX */
	puts("x");
	t->n = 1; /* TX2 */
	if (t->low)
		return 8;
	t->high = 1; /* TX2 */
	puts("y");
	(void)pop;
	return 1;
}

int in_a_case(PMEMobjpool *pop, struct thing *t, int which)
{
	switch (which) {
	case -1:
		return -1;
	case 1:
		puts("x");
		t->n = 1; /* TX */
		t->high = 1; /* TX */
		break;
	case 2:
		t->low = 1;
	}
	(void)pop;
	return 1;
}

void strings(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (strchr("one \
two", 'x'))
		return;
	t->b = 2; /* TX */
	(void)pop;
}

/* ---- conditional compilation ---- */

void begins_under_condition(PMEMobjpool *pop, struct thing *t)
{
	uint64_t n = t->n;

#ifndef NO_A
	t->a = n; /* TX */
#endif
	t->b = 2; /* TX */
	t->a = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void ends_under_condition(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
#ifdef NO_A
	t->b = 3;
#elif 1
	t->b = 2; /* TX */
#endif
	t->n = 7;
	pmemobj_persist(pop, t, sizeof *t);
}

void holds_condition(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
#ifdef NO_A
	t->n = 3;
#endif
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void only_under_condition(PMEMobjpool *pop, struct thing *t)
{
#ifndef NO_A
	t->a = 1; /* TX, left: compiled only under a condition */
#endif
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}
