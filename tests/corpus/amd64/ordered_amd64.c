/* PMEND_ASSERT_ORDERED where amd64 orders more than others do: stores to one line, and locked instructions. */
#include <immintrin.h>

#include "tests/corpus/corpus.h"

#define PUT(field, value) (*(volatile uint64_t *)&(field) = (value))

/* Plain stores to one line become durable in their order. */
static void in_one_line(struct pm *p)
{
	PUT(p->a, 1);
	PUT(p->b, 1);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8);
	PMEND_ASSERT_ORDERED(&p->b, 8, &p->a, 8); /* BUG: assert-ordered */
}

/* A non-temporal one does not keep to it. */
static void in_one_line_non_temporal(struct pm *p)
{
	PUT(p->a, 1);
	flush_line(&p->a);
	_mm_stream_si64((long long *)&p->b, 1);
	fence();
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8); /* BUG: assert-ordered */
}

static void non_temporal_and_fenced(struct pm *p)
{
	_mm_stream_si64((long long *)&p->a, 1);
	fence();
	PUT(p->c, 1);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8);
}

/* A locked instruction is a fence before it stores. */
static void locked(struct pm *p)
{
	PUT(p->a, 1);
	flush_line(&p->a);
	atomic_exchange((_Atomic uint64_t *)&p->c, 1);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, in_one_line, in_one_line_non_temporal, non_temporal_and_fenced, locked);
}
