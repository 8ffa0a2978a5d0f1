/* Many failure points, and races that begin at different moments: what is concluded at the first of them decides what is asked later.
 *	lots POOL run | recover */
#include "pm.h"

#define ROUNDS 60

struct pool {
	LINE volatile uint64_t valid; /* of data: a commit variable */
	LINE volatile uint64_t data;
	LINE volatile uint64_t count; /* persisted a round too late */
	LINE volatile uint64_t late;  /* the same, from the middle on */
	LINE volatile uint64_t spare;
};

static void put(struct pool *p, uint64_t i)
{
	p->data = i;
	pm_persist(&p->data, 8);
	p->valid = i;
	pm_persist(&p->valid, 8);
}

static void count(struct pool *p)
{
	pm_flush(&p->count, 8);
	p->count++;
}

static void put_late(struct pool *p, uint64_t i)
{
	pm_flush(&p->late, 8);
	p->late = i;
	p->spare = i;
	pm_persist(&p->spare, 8);
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	(void)argc;
	if (strcmp(argv[2], "run") == 0) {
		for (uint64_t i = 1; i <= ROUNDS; i++) {
			count(p);
			put(p, i);
			if (i > ROUNDS / 2)
				put_late(p, i);
		}
		return 0;
	}
	if (p->valid)
		printf("%lu %lu\n", p->valid, p->data);
	printf("%lu\n", p->count);
	if (p->spare)
		printf("%lu %lu\n", p->spare, p->late);
	return 0;
}
