/* A sorted list with typed handles and no transactions: a node, the link to it and the length change one after the other. */
#include "main.h"

POBJ_LAYOUT_BEGIN(order);
POBJ_LAYOUT_ROOT(order, struct root);
POBJ_LAYOUT_TOID(order, struct node);
POBJ_LAYOUT_END(order);

struct node {
	uint64_t key;
	TOID(struct node) next;
};

struct root {
	TOID(struct node) head;
	char pad[112];
	uint64_t length;
};

struct store {
	PMEMobjpool *pop;
	TOID(struct root) root;
};

static int insert(struct store *s, uint64_t key)
{
	TOID(struct node) before = D_RO(s->root)->head, new;

	if (key == 0)
		return -1;
	int volatile result = 0;
	volatile int is_returning = 0;
	volatile int is_aborted = 0;

	TX_BEGIN(s->pop) {
		if (TOID_IS_NULL(new = TX_XALLOC(struct node, sizeof(struct node), POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT)))
			{ result = -1; is_returning = 1; goto tx_done; }
		D_RW(new)->key = key;
		while (!TOID_IS_NULL(before) && !TOID_IS_NULL(D_RO(before)->next) && D_RO(D_RO(before)->next)->key < key)
			before = D_RO(before)->next;
		if (TOID_IS_NULL(before) || D_RO(before)->key > key) {
			D_RW(new)->next = D_RO(s->root)->head;
			TX_ADD_FIELD(s->root, head);
			D_RW(s->root)->head = new;
		} else {
			D_RW(new)->next = D_RO(before)->next;
			TX_ADD_FIELD(before, next);
			D_RW(before)->next = new;
		}
		TX_ADD_FIELD(s->root, length);
		D_RW(s->root)->length++;
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

static void work(PMEMobjpool *pop)
{
	struct store s = { pop, POBJ_ROOT(pop, struct root) };

	if (insert(&s, 5))
		exit(2);
	done("inserted\n");
	if (insert(&s, 9))
		exit(2);
	done("inserted\n");
}

static const char *judge(PMEMobjpool *pop)
{
	TOID(struct root) root = POBJ_ROOT(pop, struct root);
	uint64_t n = 0;

	for (TOID(struct node) node = D_RO(root)->head; !TOID_IS_NULL(node); node = D_RO(node)->next)
		n++;
	return n == D_RO(root)->length ? NULL : "the length is wrong";
}
