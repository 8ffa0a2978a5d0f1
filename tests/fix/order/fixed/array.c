/* An array object: its size is stored apart from its memory, when it is allocated, resized and released. */
#include "main.h"

struct array {
	uint64_t n; /* elements that the object has room for */
	char pad[56];
	PMEMoid data;
};

static int array_alloc(PMEMobjpool *pop, struct array *a, uint64_t n)
{
	int volatile result = 0;
	volatile int is_returning = 0;
	volatile int is_aborted = 0;
	PMEMoid allocated;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&a->data, sizeof(a->data));
		if ((allocated = pmemobj_tx_xalloc(n * sizeof(uint64_t), 1, POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT), OID_IS_NULL(allocated) ? -1 : (a->data = allocated, 0)))
			{ result = -1; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&a->n, sizeof(a->n));
		a->n = n;
	tx_done:;
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -1;
	if (is_returning)
		return result;
	return 0;
}

static void array_realloc(PMEMobjpool *pop, struct array *a, uint64_t n)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&a->data, sizeof(a->data));
		a->data = pmemobj_tx_zrealloc(a->data, n * sizeof(uint64_t), 1);
		pmemobj_tx_add_range_direct(&a->n, sizeof(a->n));
		a->n = n;
	} TX_ONABORT {
		abort();
	} TX_END
}

static void array_free(PMEMobjpool *pop, struct array *a)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&a->data, sizeof(a->data));
		pmemobj_tx_free(a->data), a->data = OID_NULL;
		pmemobj_tx_add_range_direct(&a->n, sizeof(a->n));
		a->n = 0;
	} TX_ONABORT {
		abort();
	} TX_END
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
