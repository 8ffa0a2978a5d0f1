/* An allocator that announces what it hands out as libpmemobj does; what recovery reads of it was stored before, or not.
 *	uninitialised POOL run|recover [broken] */
#include <valgrind/memcheck.h>

#include "pm.h"

struct node {
	volatile uint64_t key, count;
	volatile uint64_t note[2]; /* never stored to, never looked at: only copied */
};

struct pool {
	LINE volatile uint64_t node, zeroed; /* offsets, 0: none */
	LINE volatile uint64_t used;
	LINE uint8_t heap[512];
};

static uint64_t allocate(struct pool *p, int is_zeroed)
{
	uint64_t at = p->used;
	struct node *n = (struct node *)(p->heap + at);

	VALGRIND_MAKE_MEM_UNDEFINED(n, sizeof *n);
	if (is_zeroed)
		memset((void *)n, 0, sizeof *n);
	pm_persist(n, sizeof *n);
	p->used = at + 64;
	pm_persist(&p->used, 8);
	return at;
}

static struct node *node_at(struct pool *p, uint64_t at)
{
	return (struct node *)(p->heap + at);
}

static void insert(struct pool *p, int is_broken)
{
	uint64_t at = allocate(p, 0);

	node_at(p, at)->key = 5;
	if (!is_broken)
		node_at(p, at)->count = 1;
	pm_persist(node_at(p, at), 16);
	p->node = at;
	pm_persist(&p->node, 8);
	node_at(p, at)->count = 1; /* too late */
	pm_persist(node_at(p, at), 16);
}

static void recover(struct pool *p)
{
	struct node copy = { 0 };

	if (p->node) {
		printf("%lu\n", node_at(p, p->node)->key);
		printf("%lu\n", node_at(p, p->node)->count); /* UNINITIALISED: broken */ /* RACE: broken */
		memcpy(&copy, node_at(p, p->node), sizeof copy);
	}
	if (p->zeroed)
		printf("%lu\n", node_at(p, p->zeroed)->count);
	write(STDERR_FILENO, &copy, sizeof copy);
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	if (strcmp(argv[2], "recover") == 0) {
		recover(p);
		return 0;
	}
	p->used = 64;
	pm_persist(&p->used, 8);
	insert(p, argc > 3);
	p->zeroed = allocate(p, 1);
	pm_persist(&p->zeroed, 8);
	return 0;
}
