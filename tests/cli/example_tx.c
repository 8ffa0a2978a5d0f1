/* A program around an example of docs/findings.md about transactions, which is compiled as EXAMPLE. Usage: FILE */
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>

POBJ_LAYOUT_BEGIN(example);
POBJ_LAYOUT_ROOT(example, struct node);
POBJ_LAYOUT_END(example);

struct node {
	uint64_t value, next;
};

static void example(PMEMobjpool *pop, TOID(struct node) node)
{
#include EXAMPLE
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop = argc == 2 ? pmemobj_create(argv[1], "example", PMEMOBJ_MIN_POOL, 0600) : NULL;

	if (!pop)
		return fprintf(stderr, "%s\n", pmemobj_errormsg()), 2;
	example(pop, POBJ_ROOT(pop, struct node));
	if (pmemobj_tx_stage() == TX_STAGE_NONE)
		pmemobj_close(pop);
	return 0;
}
