/* Only a dsb for all accesses completes flushes, in any domain but the processor's own. */
#include "tests/corpus/corpus.h"

#define BARRIER(name) __asm__ volatile(name ::: "memory")

static void completed(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	BARRIER("dsb sy");
	p->b = 2;
	flush_line(&p->a);
	BARRIER("dsb ish");
	p->c = 3;
	flush_line(&p->c);
	BARRIER("dsb osh");
}

static void dmb(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	BARRIER("dmb sy");
}

static void dmb_of_stores(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	BARRIER("dmb ishst");
}

static void dsb_of_stores(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	BARRIER("dsb st");
}

static void dsb_of_loads(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	BARRIER("dsb ishld");
}

static void dsb_of_this_processor(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	BARRIER("dsb nsh");
}

static void isb(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	BARRIER("isb");
}

/* A barrier has other uses: dmb is never too much. */
static void dmb_beside_dsb(struct pm *p)
{
	p->a = 1;
	BARRIER("dmb ish");
	flush_line(&p->a);
	BARRIER("dmb ish");
	BARRIER("dsb ish");
	BARRIER("dmb ish");
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, completed, dmb, dmb_of_stores, dsb_of_stores, dsb_of_loads, dsb_of_this_processor, isb, dmb_beside_dsb);
}
