/* Recovery fails only if a word is lost and 240 later stores all survive, each in a line of its own. `quorum run POOL` makes the pool, `quorum check POOL` is its recovery. */
#include "pm.h"

#define NCOPIES 240

struct copy {
	_Alignas(LINE_BYTES) uint64_t value;
};

struct pool {
	_Alignas(LINE_BYTES) uint64_t valid;
	struct copy copies[NCOPIES];
};

static void run(struct pool *p)
{
	p->valid = 1; /* BUG: all: ordering lost */
	for (uint64_t i = 0; i < NCOPIES; i++)
		p->copies[i].value = i + 1; /* BUG: all: ordering survived */
	persist(p->copies, sizeof p->copies);
	persist(&p->valid, sizeof p->valid);
}

int main(int argc, char **argv)
{
	uint64_t nthere = 0;
	struct pool *p;

	if (argc != 3)
		return 3;
	if (strcmp(argv[1], "run") == 0) {
		run(pool_create(argv[2], sizeof *p));
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (!p || p->valid)
		return 0;
	for (uint64_t i = 0; i < NCOPIES; i++)
		nthere += p->copies[i].value == i + 1;
	CHECK(nthere < NCOPIES);
	return 0;
}
