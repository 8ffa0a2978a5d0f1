/* A counter that is updated before what it counts. */
#include "main.h"

struct root {
	uint64_t count;
	char pad[120];
	uint64_t values[8]; /* the first `count` are not 0, the others are */
};

static void append(PMEMobjpool *pop, struct root *root, uint64_t value)
{
	uint64_t at = root->count;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&root->count, sizeof(root->count));
		root->count = at + 1;
		pmemobj_tx_add_range_direct(&root->values[at], sizeof(root->values[at]));
		root->values[at] = value;
	} TX_ONABORT {
		abort();
	} TX_END
}

static void work(PMEMobjpool *pop)
{
	struct root *root = pmemobj_direct(pmemobj_root(pop, sizeof *root));

	for (uint64_t i = 1; i <= 3; i++) {
		append(pop, root, i * 10);
		done("appended\n");
	}
}

static const char *judge(PMEMobjpool *pop)
{
	const struct root *root = pmemobj_direct(pmemobj_root(pop, sizeof *root));

	for (uint64_t i = 0; i < 8; i++)
		if ((root->values[i] != 0) != (i < root->count))
			return "the count is wrong";
	return NULL;
}
