/* Inserts items into a libpmemobj list, one transaction each. Arguments: pool, items; or pool,
 * "check": recovers, and verifies the list. */
#include <libpmemobj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

POBJ_LAYOUT_BEGIN(list);
POBJ_LAYOUT_ROOT(list, struct root);
POBJ_LAYOUT_TOID(list, struct node);
POBJ_LAYOUT_END(list);

struct node {
	TOID(struct node) next;
	uint64_t value;
};

struct root {
	TOID(struct node) head;
	uint64_t count;
};

static void insert(PMEMobjpool *pop, uint64_t value)
{
	TOID(struct root) root = POBJ_ROOT(pop, struct root);

	TX_BEGIN(pop) {
		TOID(struct node) node = TX_NEW(struct node);

		TX_ADD(root);
		D_RW(node)->value = value;
		D_RW(node)->next = D_RO(root)->head;
		D_RW(root)->head = node;
		D_RW(root)->count++;
	}
	TX_END
}

/* The list has as many nodes as it says, with the values in the order of insertion. A pool that was
 * not created to its end is none yet. */
static int check(const char *path)
{
	PMEMobjpool *pop = NULL;
	TOID(struct root) root;
	struct stat st;
	uint64_t left;

	if (stat(path, &st) == 0 && st.st_size > 0) /* libpmemobj dies of an empty file */
		pop = pmemobj_open(path, POBJ_LAYOUT_NAME(list));
	if (!pop)
		return 0;
	root = POBJ_ROOT(pop, struct root);
	left = D_RO(root)->count;
	for (TOID(struct node) n = D_RO(root)->head; !TOID_IS_NULL(n); n = D_RO(n)->next)
		if (left-- == 0 || D_RO(n)->value != left)
			return 1;
	pmemobj_close(pop);
	return left != 0;
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	int items = argc > 2 ? atoi(argv[2]) : 1000;

	if (argc > 2 && strcmp(argv[2], "check") == 0)
		return check(argv[1]);
	unlink(argv[1]);
	pop = pmemobj_create(argv[1], POBJ_LAYOUT_NAME(list), 4 * PMEMOBJ_MIN_POOL, 0600);
	if (!pop)
		return perror("pmemobj_create"), 1;
	for (int i = 0; i < items; i++)
		insert(pop, (uint64_t)i);
	pmemobj_close(pop);
	return 0;
}
