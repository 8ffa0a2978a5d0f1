/* libpmemobj with a pool of the whole file. */
#include <libpmemobj.h>

struct root {
	uint64_t a, b;
	char name[100];
};

static PMEMobjpool *pop;

int start(const char *path);
int start(const char *path)
{
	pop = pmemobj_open(path, "layout");
	return pop ? 0 : -1;
}

void correct(struct root *r);
void correct(struct root *r)
{
	r->a = 1;
	pmemobj_persist(pop, &r->a, sizeof(r->a));
}

void stores(struct root *r);
void stores(struct root *r)
{
	r->b = 2; /* BUG: missing-flush */
	pmemobj_persist(pop, &r->b, sizeof(r->b));
	pmemobj_persist(pop, r->name, sizeof(r->name));
}
