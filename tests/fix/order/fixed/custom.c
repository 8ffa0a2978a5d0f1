/* What an abort comes to in this file: the variable that is returned gets -1. */
#include "thing.h"

int has_transaction(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

int has_variable(PMEMobjpool *pop, struct thing *t, uint64_t value)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = value; /* TX */
		TX_ADD_FIELD_DIRECT(t, b);
		t->b = value + 1; /* TX */
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

int has_none(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD_DIRECT(t, a);
		t->a = 1; /* TX */
		TX_ADD_FIELD_DIRECT(t, b);
		t->b = 2; /* TX */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

/* nobody can tell what it is after an abort, and ending the program is not what this file does */
int sets_variable(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	t->a = 1; /* TX, left: sets_variable has no error value */
	ret = (int)t->n;
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof(*t));
	return ret;
}

/* it returns a number, not whether it worked */
uint64_t counts(PMEMobjpool *pop, struct thing *t)
{
	t->n = 1; /* TX, left: counts has no error value */
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof(*t));
	return t->n;
}
