/* CHECK: --platform arm64-poc */
/* Machines without a separate point of persistence: dc cvac and dc civac are enough. They need a dsb, too. */
#include "tests/corpus/corpus.h"

#define CVAC(p) __asm__ volatile("dc cvac, %0" ::"r"(p) : "memory")
#define CIVAC(p) __asm__ volatile("dc civac, %0" ::"r"(p) : "memory")

static void clean(struct pm *p)
{
	p->a = 1;
	CVAC(&p->a);
	fence();
}

static void clean_and_invalidate(struct pm *p)
{
	p->a = 1;
	CIVAC(&p->a);
	fence();
}

static void to_persistence(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
}

static void not_fenced(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	CVAC(&p->a);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, clean, clean_and_invalidate, to_persistence, not_fenced);
}
