/* Stores of which a crash can leave a part, and one that it cannot tear. Recovery takes none of what may be left.
 *
 *	PROG POOL CASE		creates the pool and runs a case
 *	PROG POOL CASE recover	status 1: a part of the store is there, or the store without what follows */
#include "pm.h"

/* Aligned to its halves only: an aligned one may be stored at once. */
typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));

struct pool {
	uint64_t magic;
	_Alignas(LINE_BYTES) uint8_t bytes[2 * LINE_BYTES];
	_Alignas(LINE_BYTES) uint64_t done;
};

enum { MAGIC = 0x6e726f74 };

static const uint64_t value = 0x1111111122222222;

/* In the last bytes of one line and the first ones of another. */
static uint64_t *unaligned(struct pool *p)
{
	return (uint64_t *)(void *)(p->bytes + LINE_BYTES - 4);
}

static void unaligned_run(struct pool *p)
{
	*(volatile uint64_t *)unaligned(p) = value;
	persist(unaligned(p), sizeof value);
}

static void unaligned_recover(struct pool *p)
{
	uint64_t found;

	memcpy(&found, unaligned(p), sizeof found);
	CHECK(found == 0 || found == value);
}

static void vector_run(struct pool *p)
{
	*(volatile pair *)(void *)(p->bytes + 8) = (pair){ value, value };
	persist(p->bytes + 8, sizeof(pair));
}

static void vector_recover(struct pool *p)
{
	const uint64_t *found = (const uint64_t *)(void *)(p->bytes + 8);

	CHECK(found[0] == found[1]);
}

static void aligned_run(struct pool *p)
{
	*(volatile uint64_t *)(void *)p->bytes = value;
	*(volatile uint64_t *)&p->done = 1;
	persist(p, sizeof *p);
}

static void aligned_recover(struct pool *p)
{
	CHECK(!p->done || *(const uint64_t *)(void *)p->bytes == value);
}

static const struct {
	const char *name;
	void (*run)(struct pool *p), (*recover)(struct pool *p);
} cases[] = {
	{ "unaligned", unaligned_run, unaligned_recover },
	{ "vector", vector_run, vector_recover },
	{ "aligned", aligned_run, aligned_recover },
};

int main(int argc, char **argv)
{
	const int is_recovery = argc == 4;
	struct pool *p;

	if (argc < 3)
		return 2;
	p = is_recovery ? pool_open(argv[1], sizeof *p) : pool_create(argv[1], sizeof *p);
	if (!is_recovery) {
		p->magic = MAGIC;
		persist(&p->magic, sizeof p->magic);
	} else if (!p || p->magic != MAGIC) {
		return 0;
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (strcmp(argv[2], cases[i].name) == 0)
			(is_recovery ? cases[i].recover : cases[i].run)(p);
	return 0;
}
