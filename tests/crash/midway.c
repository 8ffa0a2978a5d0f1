/* Recovery reads a word only after a crash in the middle, not where the program has ended: `midway run POOL`, then `midway recover POOL`, or `midway lenient POOL`, which survives. */
#include "pm.h"

struct pool {
	_Alignas(64) uint64_t busy;
	_Alignas(64) uint64_t undo; /* never written back */
	_Alignas(64) uint64_t data;
	_Alignas(64) uint64_t spare; /* never written back, never read */
};

static void run(struct pool *p)
{
	p->busy = 1;
	persist(&p->busy, sizeof p->busy);
	p->undo = 7; /* MIDWAY: reads */
	p->data = 1;
	persist(&p->data, sizeof p->data);
	p->busy = 0;
	persist(&p->busy, sizeof p->busy);
	p->spare = 3; /* MIDWAY: never-touches */
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		run(pool_create(argv[2], sizeof *p));
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	return p && p->busy && p->data && p->undo != 7 && strcmp(argv[1], "recover") == 0;
}
