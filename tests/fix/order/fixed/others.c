/* What is around a transaction, or in it: other transactions, error values, locks, output, flushes for other stores. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "thing.h"

void extends(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->n);
		t->n = 0; /* TX */
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
		if (t) {
			TX_ADD_DIRECT(&t->b);
			t->b = 2; /* TX */
		}
	} TX_ONABORT {
		t = NULL;
	} TX_END
}

void forgets(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
		if (t->n) {
			TX_ADD_DIRECT(&t->b);
			t->b = 2; /* FORGOTTEN */
		}
	} TX_END
}

void nested(PMEMobjpool *pop, struct thing *t, int c)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		if (c) {
			TX_BEGIN(pop) {
				TX_ADD_DIRECT(&t->n);
				t->n = 1; /* LOGGED */
			} TX_END
		}
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

int evident_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return -1;
	volatile int is_aborted = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -1;
	return 0;
}

bool no_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return false;
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	return true;
}

int error_numbers(PMEMobjpool *pop, struct thing *t, int which)
{
	if (which)
		return -EINVAL;
	volatile int is_aborted = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->n);
		t->n = 1; /* TX */
		TX_ADD_DIRECT(t);
		t->high = 1; /* TX */
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -errno;
	return 1;
}

int cleans_up(PMEMobjpool *pop, struct thing *t, int which)
{
	char *p = malloc(8);

	if (!p)
		return -1;
	p = realloc(p, 80);
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->n);
		t->n = 1; /* TX */
		TX_ADD_DIRECT(t);
		t->high = 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	free(p);
	return which;
}

void durable_too(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		TX_ADD_DIRECT(&t->n);
		t->n = 7; /* FLUSH */
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

void durable_beside(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	t->n = 7; /* FLUSH */
	pmemobj_persist(pop, &t->n, sizeof t->n);
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
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		if (t->n > 8)
			fprintf(stderr, "too many\n");
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

int locks(PMEMobjpool *pop, struct thing *t, PMEMmutex *lock)
{
	if (!t->n)
		return -1;
	int volatile result = 0;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* TX */
		if (pmemobj_mutex_lock(pop, lock))
			{ result = -1; is_returning = 1; goto tx_done; }
		TX_ADD_DIRECT(&t->b);
		t->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
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
