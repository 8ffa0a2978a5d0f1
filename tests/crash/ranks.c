/* Five words that are never written back, and what recovery does with each: `ranks run POOL`, then `ranks recover POOL`. */
#include "pm.h"

struct pool {
	_Alignas(64) uint64_t n; /* durable */
	_Alignas(64) uint64_t value;
	_Alignas(64) uint64_t lock;
	_Alignas(64) uint64_t count;
	uint64_t beside; /* of the count's line, and read */
	_Alignas(64) struct pool *link;
	_Alignas(64) uint64_t scratch;
};

static void run(struct pool *p)
{
	p->n = 1;
	persist(&p->n, sizeof p->n);
	p->value = 7;	 /* RANK: reads */
	p->lock = 1;	 /* RANK: overwrites */
	p->count = 1;	 /* RANK: overwrites */
	p->beside = 2;	 /* RANK: reads */
	p->link = p;	 /* RANK: overwrites */
	p->scratch = 13; /* RANK: never-touches */
}

static void recover(struct pool *p)
{
	if (!p || p->n == 0)
		return;
	p->lock = 0;
	p->count = p->n; /* computed anew */
	p->link = p;	 /* rebuilt */
	printf("%d %d\n", (p->value == 7) + (p->beside == 2) > 0, p->count == 1 && p->lock == 0);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0)
		run(pool_create(argv[2], sizeof(struct pool)));
	else
		recover(pool_open(argv[2], sizeof(struct pool)));
	return 0;
}
