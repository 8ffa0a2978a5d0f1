/* Stores behind the commit that belong to the transaction: those with which TX_ONCOMMIT begins move into its work. Others are left. */
#include <stdio.h>

#include "thing.h"

int counted(PMEMobjpool *pop, struct thing *t, int *nsaved)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* LOGGED */
		TX_ADD_FIELD_DIRECT(t, b);
		TX_ADD_FIELD_DIRECT(t, n);
		t->b++; /* FORGOTTEN */
		t->n = 1; /* FORGOTTEN */
	} TX_ONCOMMIT {
		*nsaved = 1;
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

int alone(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* LOGGED */
		TX_ADD_FIELD_DIRECT(t, b);
		t->b++; /* FORGOTTEN */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

int told(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* LOGGED */
	} TX_ONCOMMIT {
		puts("done");
		t->b++; /* FORGOTTEN, left: but line 48 comes first */
		pmemobj_persist(pop, &t->b, sizeof(t->b));
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

int remembered(PMEMobjpool *pop, struct thing *t)
{
	volatile int n = 0;
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* LOGGED */
	} TX_ONCOMMIT {
		t->b = n = 5; /* FORGOTTEN, left: cannot be undone as it is */
		pmemobj_persist(pop, &t->b, sizeof(t->b));
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret + n;
}

int another(PMEMobjpool *pop, struct thing *t, struct thing *other)
{
	int ret = 0;

	other->a = 1;
	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* LOGGED */
		TX_ADD_FIELD_DIRECT(t, b);
		TX_ADD_FIELD_DIRECT(t, n);
		t->b++; /* FORGOTTEN */
		t->n++; /* FORGOTTEN */
	} TX_ONCOMMIT {
		pmemobj_persist(pop, other, sizeof(*other));
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

int before(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	t->n = 1;
	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* LOGGED */
		TX_ADD_FIELD_DIRECT(t, b);
		t->b++; /* FORGOTTEN */
	} TX_ONCOMMIT {
		pmemobj_persist(pop, t, sizeof(*t));
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}
