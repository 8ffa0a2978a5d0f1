/* What a transaction logs, and before which statement. */
#include <string.h>

#include "thing.h"

void nothing(PMEMobjpool *pop, struct thing *t, const char *text)
{
	t->list[t->n++] = 5; /* TX */
	if (t->n == 8)
		return;
	t->high = 3; /* TX */
	strcpy(t->text, text); /* TX */
	memset(t->list, 0, sizeof t->list); /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void twice(struct thing *t)
{
	t->a++; /* TX */
	t->a++; /* TX */
	t = t->next;
	t->a++; /* TX */
}

static struct thing *next_of(struct thing *t)
{
	return memchr(t, 1, 8) ? t->next : NULL;
}

void calls(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: cannot be evaluated before */
	next_of(t)->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void loop_header(PMEMobjpool *pop, struct thing *t)
{
	for (t->a = 0; t->a < 3; t->a++) /* TX, left: part of a condition */
		t->list[t->a] = 1; /* TX */
	t->b = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void conditional(PMEMobjpool *pop, struct thing *t)
{
	if ((t->a = t->n)) /* TX */
		t->b = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void chooses(PMEMobjpool *pop, struct thing *t, int c)
{
	c ? (t->a = 1) : (t->b = 2); /* TX, left: part of a condition */
	t->n = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void chooses_place(PMEMobjpool *pop, struct thing *t, struct thing *u, int c)
{
	(c ? t : u)->a = 1; /* TX */
	*(c ? &t->b : &u->b) = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void commas(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1, t->b = 2; /* TX */
	t->n = t->list[0] = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void steps(PMEMobjpool *pop, struct thing *t, int i)
{
	t->list[i++] = 1; /* TX */
	t->list[i] = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void prestep(PMEMobjpool *pop, struct thing *t, int i)
{
	t->a = 1; /* TX, left: cannot be evaluated before */
	t->list[++i] = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void whole_things(PMEMobjpool *pop, struct thing *t)
{
	*t = (struct thing){ .a = 1 }; /* TX */
	*(uint64_t *)((char *)t + 8) = 1; /* TX */
	((struct thing *)t->next)->a = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void fills(PMEMobjpool *pop, struct thing *t, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		t->list[i] = i; /* TX */
	memcpy(t->text, "abc", 4); /* TX */
	t->n = n; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

#define FIELD(t) (t)->a

void uses_macro(PMEMobjpool *pop, struct thing *t)
{
	FIELD(t) = 1; /* TX */
	t->b += 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

struct shared {
	volatile uint64_t a;
	uint64_t b;
};

void is_volatile(PMEMobjpool *pop, struct shared *s)
{
	s->a = 1; /* TX */
	s->b = 2; /* TX */
	pmemobj_persist(pop, &s->b, sizeof s->b);
}
