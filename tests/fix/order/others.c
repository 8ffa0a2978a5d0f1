/* What is around a transaction, or in it: other transactions, error values, locks, output, flushes for other stores. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "thing.h"

void extends(PMEMobjpool *pop, struct thing *t)
{
	t->n = 0; /* TX */
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
	} TX_ONABORT {
		t = NULL;
	} TX_END
	if (t)
		t->b = 2; /* TX */
}

void forgets(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
		if (t->n)
			t->b = 2; /* FORGOTTEN */
	} TX_END
}

void nested(PMEMobjpool *pop, struct thing *t, int c)
{
	t->a = 1; /* TX */
	if (c) {
		TX_BEGIN(pop) {
			TX_ADD_DIRECT(&t->n);
			t->n = 1; /* LOGGED */
		} TX_END
	}
	t->b = 2; /* TX */
}

int evident_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return -1;
	t->a = 1; /* TX */
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return 0;
}

bool no_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return false;
	t->a = 1; /* TX */
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return true;
}

int error_numbers(PMEMobjpool *pop, struct thing *t, int which)
{
	if (which)
		return -EINVAL;
	t->n = 1; /* TX */
	t->high = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return 1;
}

int cleans_up(PMEMobjpool *pop, struct thing *t, int which)
{
	char *p = malloc(8);

	if (!p)
		return -1;
	p = realloc(p, 80);
	t->n = 1; /* TX */
	t->high = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	free(p);
	return which;
}

void durable_too(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	pmemobj_persist(pop, &t->a, sizeof t->a);
	t->n = 7; /* FLUSH */
	t->b = 2; /* TX */
	pmemobj_persist(pop, &t->b, sizeof t->b);
}

void durable_beside(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	t->b = 2; /* TX */
	t->n = 7; /* FLUSH */
	pmemobj_persist(pop, &t->b, sizeof t->b);
}

uint64_t tells(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: outputs data */
	uint64_t x = t->n, y = 2;
	t->b = x; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	printf("%d\n", (int)x);
	return x + y;
}

void warns(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (t->n > 8)
		fprintf(stderr, "too many\n");
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

int locks(PMEMobjpool *pop, struct thing *t, PMEMmutex *lock)
{
	if (!t->n)
		return -1;
	t->a = 1; /* TX */
	if (pmemobj_mutex_lock(pop, lock))
		return -1;
	t->b = 2; /* TX */
	pmemobj_mutex_unlock(pop, lock);
	pmemobj_persist(pop, t, sizeof *t);
	return 0;
}

void unlocks(PMEMobjpool *pop, struct thing *t, PMEMmutex *lock)
{
	pmemobj_mutex_lock(pop, lock);
	t->a = 1; /* TX, left: releases a lock */
	pmemobj_mutex_unlock(pop, lock);
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}
