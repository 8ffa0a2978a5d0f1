/* stnp, a pair of non-temporal stores, is a plain store with a hint: it needs a flush. */
#include "tests/corpus/corpus.h"

#define STNP(p) __asm__ volatile("stnp %1, %1, [%0]" ::"r"(p), "r"(1ul) : "memory")

static void pair_not_flushed(struct pm *p)
{
	STNP(&p->a); /* BUG: missing-flush */
	fence(); /* WARNING: redundant-fence */
}

static void pair_persisted(struct pm *p)
{
	STNP(&p->a);
	persist(&p->a, 16);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, pair_not_flushed, pair_persisted);
}
