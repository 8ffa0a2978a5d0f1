/* dc cvac and dc civac write back to the point of coherency, which may lie before the point of persistence. */
#include "tests/corpus/corpus.h"

#define CVAC(p) __asm__ volatile("dc cvac, %0" ::"r"(p) : "memory")
#define CIVAC(p) __asm__ volatile("dc civac, %0" ::"r"(p) : "memory")

static void clean(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	CVAC(&p->a);
	fence();
}

static void clean_and_invalidate(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	CIVAC(&p->a);
	fence();
}

static void to_persistence_as_well(struct pm *p)
{
	p->a = 1;
	CVAC(&p->a);
	flush_line(&p->a);
	fence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, clean, clean_and_invalidate, to_persistence_as_well);
}
