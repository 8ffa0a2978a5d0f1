/* Two pools; the first grows and is mapped anew; its root holds pointers as they are, which hold only where the pool is mapped at the same address.
 *
 *	pools run A B     makes both
 *	pools list A B    follows the pointers (correct)
 *	pools pair A B    what A says of B must be there (it is not: ordering across pools)
 *	pools grown A B   what A says of its own second half must be there (correct) */
#include "pm.h"

#define HALF_BYTES 8192u
#define NNODES 3

struct node {
	_Alignas(64) uint64_t value;
	struct node *next;
};

struct root {
	_Alignas(64) struct node *first; /* a real pointer */
	_Alignas(64) uint64_t has_b;
	_Alignas(64) uint64_t has_half;
	struct node nodes[NNODES];
};

static void run_list(struct root *a)
{
	for (int i = 0; i < NNODES; i++) {
		a->nodes[i] = (struct node){ (uint64_t)i + 1, a->first };
		persist(&a->nodes[i], sizeof a->nodes[i]);
		a->first = &a->nodes[i];
		persist(&a->first, sizeof a->first);
	}
}

static void run_pair(struct root *a, uint64_t *b)
{
	*b = 6;	      /* BUG: pair: ordering lost */
	a->has_b = 1; /* BUG: pair: ordering survived */
	persist(&a->has_b, sizeof a->has_b);
	persist(b, sizeof *b);
}

static void run_grown(struct root **a, const char *path)
{
	struct root *grown;
	uint64_t *half;

	CHECK(truncate(path, 2 * HALF_BYTES) == 0);
	grown = mremap(*a, HALF_BYTES, 2 * HALF_BYTES, MREMAP_MAYMOVE);
	CHECK(grown != MAP_FAILED);
	*a = grown;
	half = (uint64_t *)((char *)grown + HALF_BYTES);
	*half = 8;
	persist(half, sizeof *half);
	grown->has_half = 1;
	persist(&grown->has_half, sizeof grown->has_half);
}

static void check_list(const struct root *a)
{
	uint64_t n = 0;

	for (const struct node *node = a->first; node; node = node->next, n++)
		CHECK(node->value >= 1 && node->value <= NNODES);
	CHECK(n <= NNODES && (n == 0 || a->first->value == n));
}

int main(int argc, char **argv)
{
	struct root *a;
	uint64_t *b, *half;

	CHECK(argc == 4);
	if (strcmp(argv[1], "run") == 0) {
		a = pool_create(argv[2], HALF_BYTES);
		b = pool_create(argv[3], HALF_BYTES);
		run_list(a);
		run_pair(a, b);
		run_grown(&a, argv[2]);
		return 0;
	}
	a = pool_open(argv[2], HALF_BYTES);
	b = pool_open(argv[3], HALF_BYTES);
	if (!a)
		return 0;
	if (argv[1][0] == 'l')
		check_list(a);
	else if (argv[1][0] == 'p')
		CHECK(!a->has_b || (b && *b == 6));
	else if (a->has_half) {
		half = pool_open(argv[2], 2 * HALF_BYTES);
		CHECK(half && half[HALF_BYTES / sizeof *half] == 8);
	}
	return 0;
}
