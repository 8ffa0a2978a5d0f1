/* A linked list whose length is not part of the transaction. */
#include "main.h"

struct node {
	uint64_t value;
	PMEMoid next;
};

struct root {
	PMEMoid head;
	char pad[112];
	uint64_t length;
};

static void push(PMEMobjpool *pop, struct root *root, uint64_t value)
{
	TX_BEGIN(pop) {
		PMEMoid new = pmemobj_tx_zalloc(sizeof(struct node), 1);
		struct node *node = pmemobj_direct(new);

		node->value = value;
		node->next = root->head;
		pmemobj_tx_add_range_direct(&root->head, sizeof root->head);
		root->head = new;
		pmemobj_tx_add_range_direct(&root->length, sizeof root->length);
		root->length++;
	} TX_END
}

static void work(PMEMobjpool *pop)
{
	struct root *root = pmemobj_direct(pmemobj_root(pop, sizeof *root));

	push(pop, root, 7);
	done("pushed\n");
	push(pop, root, 8);
	done("pushed\n");
}

static const char *judge(PMEMobjpool *pop)
{
	const struct root *root = pmemobj_direct(pmemobj_root(pop, sizeof *root));
	uint64_t n = 0;

	for (PMEMoid oid = root->head; !OID_IS_NULL(oid); oid = ((const struct node *)pmemobj_direct(oid))->next)
		n++;
	return n == root->length ? NULL : "the length is wrong";
}
