/* Two transactions in a row that belong together. */
#include <stdio.h>

#include "thing.h"

int joins(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a++; /* WITHIN */
		TX_ADD_DIRECT(&t->b);
		t->b++; /* WITHIN */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}

/* each says what it was that did not work */
int tells(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a++; /* WITHIN, left: tells has no error value */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	if (ret)
		return ret;
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->b);
		t->b++; /* WITHIN */
	} TX_ONABORT {
		ret = -2;
	} TX_END
	return ret;
}

/* others are told in between */
int prints(PMEMobjpool *pop, struct thing *t)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a++; /* WITHIN, left: outputs data that is not durable */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	printf("%d\n", ret);
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->b);
		t->b++; /* WITHIN */
	} TX_ONABORT {
		ret = -1;
	} TX_END
	return ret;
}
