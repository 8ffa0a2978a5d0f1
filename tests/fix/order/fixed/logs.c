/* What a transaction logs, and before which statement. */
#include <string.h>
#include <stdlib.h>

#include "thing.h"

void nothing(PMEMobjpool *pop, struct thing *t, const char *text)
{
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->list[t->n], sizeof(t->list[t->n]));
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->list[t->n++] = 5; /* TX */
		if (t->n == 8)
			{ is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		t->high = 3; /* TX */
		strcpy(t->text, text); /* TX */
		memset(t->list, 0, sizeof t->list); /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return;
}

void twice(struct thing *t)
{
	TX_BEGIN(pmemobj_pool_by_ptr(&t->a)) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a++; /* TX */
		t->a++; /* TX */
		t = t->next;
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a++; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
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
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		if ((t->a = t->n)) /* TX */ {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 1; /* TX */
		}
	} TX_ONABORT {
		abort();
	} TX_END
}

void chooses(PMEMobjpool *pop, struct thing *t, int c)
{
	c ? (t->a = 1) : (t->b = 2); /* TX, left: part of a condition */
	t->n = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void chooses_place(PMEMobjpool *pop, struct thing *t, struct thing *u, int c)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&(c ? t : u)->a, sizeof((c ? t : u)->a));
		(c ? t : u)->a = 1; /* TX */
		pmemobj_tx_add_range_direct((c ? &t->b : &u->b), sizeof(*(c ? &t->b : &u->b)));
		*(c ? &t->b : &u->b) = 3; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void commas(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->a = 1, t->b = 2; /* TX */
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		pmemobj_tx_add_range_direct(&t->list[0], sizeof(t->list[0]));
		t->n = t->list[0] = 3; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

void steps(PMEMobjpool *pop, struct thing *t, int i)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->list[i], sizeof(t->list[i]));
		t->list[i++] = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->list[i], sizeof(t->list[i]));
		t->list[i] = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

void prestep(PMEMobjpool *pop, struct thing *t, int i)
{
	t->a = 1; /* TX, left: cannot be evaluated before */
	t->list[++i] = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void whole_things(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		*t = (struct thing){ .a = 1 }; /* TX */
		pmemobj_tx_add_range_direct((uint64_t *)((char *)t + 8), sizeof(*(uint64_t *)((char *)t + 8)));
		*(uint64_t *)((char *)t + 8) = 1; /* TX */
		pmemobj_tx_add_range_direct(&((struct thing *)t->next)->a, sizeof(((struct thing *)t->next)->a));
		((struct thing *)t->next)->a = 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

void fills(PMEMobjpool *pop, struct thing *t, uint64_t n)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(t->list, sizeof(t->list));
		for (uint64_t i = 0; i < n; i++)
			t->list[i] = i; /* TX */
		pmemobj_tx_add_range_direct(t->text, 4);
		memcpy(t->text, "abc", 4); /* TX */
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = n; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

#define FIELD(t) (t)->a

void uses_macro(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&FIELD(t), sizeof(FIELD(t)));
		FIELD(t) = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b += 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

struct shared {
	volatile uint64_t a;
	uint64_t b;
};

void is_volatile(PMEMobjpool *pop, struct shared *s)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct((void *)&s->a, sizeof(s->a));
		s->a = 1; /* TX */
		pmemobj_tx_add_range_direct(&s->b, sizeof(s->b));
		s->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}
