/* An array object: its size is stored apart from its memory, when it is allocated, resized and released. */
#include "main.h"

struct array {
	uint64_t n; /* elements that the object has room for */
	char pad[56];
	PMEMoid data;
};

static int array_alloc(PMEMobjpool *pop, struct array *a, uint64_t n)
{
	if (pmemobj_zalloc(pop, &a->data, n * sizeof(uint64_t), 1))
		return -1;
	a->n = n;
	pmemobj_persist(pop, &a->n, sizeof a->n);
	return 0;
}

static void array_realloc(PMEMobjpool *pop, struct array *a, uint64_t n)
{
	pmemobj_zrealloc(pop, &a->data, n * sizeof(uint64_t), 1);
	a->n = n;
	pmemobj_persist(pop, &a->n, sizeof a->n);
}

static void array_free(PMEMobjpool *pop, struct array *a)
{
	pmemobj_free(&a->data);
	a->n = 0;
	pmemobj_persist(pop, &a->n, sizeof a->n);
}

static void work(PMEMobjpool *pop)
{
	struct array *a = pmemobj_direct(pmemobj_root(pop, sizeof *a));

	if (array_alloc(pop, a, 10))
		exit(2);
	done("allocated\n");
	array_realloc(pop, a, 200);
	done("resized\n");
	array_free(pop, a);
	done("released\n");
}

static const char *judge(PMEMobjpool *pop)
{
	const struct array *a = pmemobj_direct(pmemobj_root(pop, sizeof *a));
	uint64_t bytes = OID_IS_NULL(a->data) ? 0 : pmemobj_alloc_usable_size(a->data), want = a->n * sizeof(uint64_t);

	if (want > bytes || bytes > want + 200 || (want == 0) != (bytes == 0))
		return "the array has not the size that it should";
	return NULL;
}
