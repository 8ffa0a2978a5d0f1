/* Two stores in one line of source, and recovery dies in another function for each. `oneline run POOL` makes the pool, `oneline check POOL` is its recovery. */
#include "pm.h"

struct pool {
	_Alignas(LINE_BYTES) uint64_t key;
	_Alignas(LINE_BYTES) uint64_t value;
	_Alignas(LINE_BYTES) uint64_t valid;
};

__attribute__((noinline)) static void no_key(void)
{
	abort();
}

__attribute__((noinline)) static void no_value(void)
{
	fflush(NULL);
	abort();
}

static void run(struct pool *p)
{
	p->key = 1, p->value = 1;
	p->valid = 1;
	persist(&p->valid, sizeof p->valid);
	persist(p, sizeof *p);
}

int main(int argc, char **argv)
{
	struct pool *p;

	if (argc != 3)
		return 3;
	if (strcmp(argv[1], "run") == 0) {
		run(pool_create(argv[2], sizeof *p));
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (!p || !p->valid)
		return 0;
	if (!p->key)
		no_key();
	if (!p->value)
		no_value();
	return 0;
}
