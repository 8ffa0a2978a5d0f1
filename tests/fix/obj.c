/* libpmemobj: with the pool at hand, or found by the address. */
#include <libpmemobj.h>

struct root {
	uint64_t a, b;
};

void with_pool(PMEMobjpool *pop, struct root *r);
void with_pool(PMEMobjpool *pop, struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
	r->b = 2;
	pmemobj_persist(pop, &r->b, sizeof r->b);
}

void without_pool(struct root *r);
void without_pool(struct root *r)
{
	r->a = 1; /* BUG: missing-flush-fence */
}

void pool_comes_late(struct root *r, int n);
void pool_comes_late(struct root *r, int n)
{
	r->a = 1; /* BUG: missing-flush-fence */
	if (n) {
		PMEMobjpool *pop = pmemobj_pool_by_ptr(r);

		pmemobj_persist(pop, r, sizeof *r);
	}
}

TOID_DECLARE(struct root, 1);

void by_macro(PMEMobjpool *pop, TOID(struct root) root);
void by_macro(PMEMobjpool *pop, TOID(struct root) root)
{
	D_RW(root)->a = D_RO(root)->b; /* BUG: missing-flush-fence */
}

PMEMobjpool *give(const char *path);
int by_function(const char *path, TOID(struct root) root);
int by_function(const char *path, TOID(struct root) root)
{
	PMEMobjpool *pop = give(path);

	if (!pop)
		return -1;
	D_RW(root)->b = 1; /* BUG: missing-flush-fence */
	return 0;
}
