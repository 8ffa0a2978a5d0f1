/* Five words that are never written back, and what recovery does with each: `ranks run POOL`, then `ranks recover POOL`. `ranks many POOL` stores thousands more of them first. */
#include "pm.h"

#define MANY 1500

struct pool {
	_Alignas(64) uint64_t n; /* durable */
	_Alignas(64) uint64_t value;
	_Alignas(64) uint64_t lock;
	_Alignas(64) uint64_t count;
	uint64_t beside; /* of the count's line, and read */
	_Alignas(64) struct pool *link;
	_Alignas(64) uint64_t scratch;
	struct { _Alignas(64) uint64_t word; } more[2]; /* of one line of source: it matters if one of them does */
	_Alignas(64) uint64_t unread[MANY];
	_Alignas(64) uint64_t filled[MANY];
	_Alignas(64) uint64_t last_read[MANY];
};

__attribute__((noinline)) static void put(uint64_t *word)
{
	*word = 17; /* RANK: reads */
}

__attribute__((noinline)) static void put_more(struct pool *p)
{
	put(&p->more[1].word);
}

static void run(struct pool *p)
{
	p->n = 1; /* RANK ON MSYNC: reads */
	persist(&p->n, sizeof p->n);
	p->value = 7;	 /* RANK: reads */
	p->lock = 1;	 /* RANK: overwrites */
	p->count = 1;	 /* overwritten; listed under the next one, whose flush writes it back, too */
	p->beside = 2;	 /* RANK: reads */
	p->link = p;	 /* RANK: overwrites */
	p->scratch = 13; /* RANK: never-touches */
	put(&p->more[0].word);
	put_more(p);
}

static void store_many(struct pool *p)
{
	for (int i = 0; i < MANY; i++)
		p->unread[i] = 19; /* RANK OF MANY: never-touches */
	for (int i = 0; i < MANY; i++)
		p->filled[i] = 23; /* RANK OF MANY: overwrites */
	for (int i = 0; i < MANY; i++)
		p->last_read[i] = 29; /* RANK OF MANY: reads */
}

static void recover(struct pool *p)
{
	if (!p || p->n == 0)
		return;
	for (int i = 0; i < MANY; i++)
		p->filled[i] = 0;
	p->lock = 0;
	p->count = p->n; /* computed anew */
	p->link = p;	 /* rebuilt */
	printf("%d %d\n", (p->value == 7) + (p->beside == 2) > 0, p->count == 1 && p->lock == 0 && p->more[1].word == 17 && p->last_read[MANY - 1] == 29);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	if (strcmp(argv[1], "many") == 0) {
		struct pool *p = pool_create(argv[2], sizeof(struct pool));

		store_many(p);
		run(p);
	} else if (strcmp(argv[1], "run") == 0) {
		run(pool_create(argv[2], sizeof(struct pool)));
	} else {
		recover(pool_open(argv[2], sizeof(struct pool)));
	}
	return 0;
}
