/* Objects of ten kinds become durable at once, so that there are more groups of update behaviours than failure points. `kinds run POOL TIMES` stores to all of
 * them as often, `kinds check POOL` reads all of them. */
#include "pm.h"

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)

#define KIND(n) \
	struct kind##n { \
		_Alignas(LINE_BYTES) uint64_t field##n; \
	};
EACH(KIND)

struct pool {
#define MEMBER(n) struct kind##n object##n;
	EACH(MEMBER)
};

static void store(struct pool *p, uint64_t value)
{
#define STORE(n) \
	p->object##n.field##n = value; \
	flush(&p->object##n, sizeof p->object##n);
	EACH(STORE)
	fence();
}

static int check(const struct pool *p, uint64_t most)
{
#define IS_WRONG(n) || p->object##n.field##n > most
	return 0 EACH(IS_WRONG);
}

int main(int argc, char **argv)
{
	struct pool *p;

	if (argc < 3)
		return 4;
	if (strcmp(argv[1], "check") == 0) {
		p = pool_open(argv[2], sizeof *p);
		return p ? check(p, 1000) : 0;
	}
	p = pool_create(argv[2], sizeof *p);
	for (uint64_t i = 1; i <= strtoull(argv[3], NULL, 10); i++)
		store(p, i);
	return 0;
}
