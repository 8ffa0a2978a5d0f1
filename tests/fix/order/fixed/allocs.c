/* Allocation in a transaction, which becomes transactional. */
#include "thing.h"
#include <stdlib.h>

static int construct(PMEMobjpool *pop, void *p, void *arg)
{
	(void)arg;
	pmemobj_memset_persist(pop, p, 0, 8);
	return 0;
}

int makes(PMEMobjpool *pop, struct thing *t, PMEMoid *oid)
{
	t->a = 1; /* TX, left: has no transactional form */
	if (pmemobj_alloc(pop, oid, 64, 1, construct, NULL))
		return -1;
	t->b = 2; /* TX */
	return 0;
}

struct node {
	uint64_t v;
	PMEMoid next;
	struct node *raw;
};

struct top {
	uint64_t n;
	PMEMoid head, all[4];
};

int allocates(PMEMobjpool *pop, struct top *t)
{
	PMEMoid oid;
	struct node *p;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		oid = pmemobj_tx_alloc(sizeof(struct node), 1);
		p = pmemobj_direct(oid);
		p->v = 1; /* SEEN */
		pmemobj_tx_add_range_direct(&p->raw->v, sizeof(p->raw->v));
		p->raw->v = 2; /* SEEN */
		pmemobj_tx_add_range_direct(&t->head, sizeof(t->head));
		t->head = oid; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	return 0;
}

int allocates_perhaps(PMEMobjpool *pop, struct top *t, int c)
{
	PMEMoid oid = t->head;
	struct node *p;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		if (c)
			oid = pmemobj_tx_alloc(sizeof(struct node), 1);
		p = pmemobj_direct(oid);
		pmemobj_tx_add_range_direct(&p->v, sizeof(p->v));
		p->v = 1; /* SEEN */
		pmemobj_tx_add_range_direct(&t->head, sizeof(t->head));
		t->head = oid; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	return 0;
}

int allocates_checked(PMEMobjpool *pop, struct top *t)
{
	int volatile result = 0;
	volatile int is_returning = 0;
	PMEMoid allocated;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		pmemobj_tx_add_range_direct(&t->head, sizeof(t->head));
		int ret = (allocated = pmemobj_tx_xalloc(64, 1, POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT), OID_IS_NULL(allocated) ? -1 : (t->head = allocated, 0));
		if (ret)
			{ result = ret; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->all[0], sizeof(t->all[0]));
		t->all[0] = t->head; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	return 0;
}

int releases(PMEMobjpool *pop, struct top *t, PMEMoid *oidp)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		if (pmemobj_pool_by_ptr(oidp))
			pmemobj_tx_add_range_direct(oidp, sizeof((*oidp)));
		pmemobj_tx_free((*oidp)), (*oidp) = OID_NULL;
		pmemobj_tx_add_range_direct(&t->all[1], sizeof(t->all[1]));
		pmemobj_tx_free(t->all[1]), t->all[1] = OID_NULL;
		for (int i = 0; i < 4; i++) {
			pmemobj_tx_add_range_direct(&t->all[i], sizeof(t->all[i]));
			pmemobj_tx_free(t->all[i]), t->all[i] = OID_NULL;
		}
		pmemobj_tx_add_range_direct(&t->all[0], sizeof(t->all[0]));
		t->all[0] = t->head; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	(void)pop;
	return 0;
}

int resizes(PMEMobjpool *pop, struct top *t)
{
	t->n++; /* TX, left: has no transactional form */
	if (pmemobj_realloc(pop, &t->head, 128, 1))
		return -1;
	t->all[0] = t->head; /* TX */
	return 0;
}
