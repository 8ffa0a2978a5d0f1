/* Allocation in a transaction, which becomes transactional. */
#include "thing.h"

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

	t->n++; /* TX */
	pmemobj_alloc(pop, &oid, sizeof(struct node), 1, NULL, NULL);
	p = pmemobj_direct(oid);
	p->v = 1; /* SEEN */
	p->raw->v = 2; /* SEEN */
	t->head = oid; /* TX */
	return 0;
}

int allocates_perhaps(PMEMobjpool *pop, struct top *t, int c)
{
	PMEMoid oid = t->head;
	struct node *p;

	t->n++; /* TX */
	if (c)
		pmemobj_alloc(pop, &oid, sizeof(struct node), 1, NULL, NULL);
	p = pmemobj_direct(oid);
	p->v = 1; /* SEEN */
	t->head = oid; /* TX */
	return 0;
}

int allocates_checked(PMEMobjpool *pop, struct top *t)
{
	t->n++; /* TX */
	int ret = pmemobj_zalloc(pop, &t->head, 64, 1);
	if (ret)
		return ret;
	t->all[0] = t->head; /* TX */
	return 0;
}

int releases(PMEMobjpool *pop, struct top *t, PMEMoid *oidp)
{
	t->n++; /* TX */
	pmemobj_free(oidp);
	pmemobj_free(&t->all[1]);
	for (int i = 0; i < 4; i++)
		pmemobj_free(&t->all[i]);
	t->all[0] = t->head; /* TX */
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
