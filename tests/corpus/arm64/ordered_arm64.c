/* PMEND_ASSERT_ORDERED where arm64 orders less than amd64 does: stores to one line need a barrier or a release, and atomics complete no flush. */
#include "tests/corpus/corpus.h"

#define PUT(field, value) (*(volatile uint64_t *)&(field) = (value))
#define BARRIER(name) __asm__ volatile(name ::: "memory")

/* Right on amd64. */
static void in_one_line(struct pm *p)
{
	PUT(p->a, 1);
	PUT(p->b, 1);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8); /* BUG: assert-ordered */
}

static void barrier_between(struct pm *p)
{
	PUT(p->a, 1);
	BARRIER("dmb ishst");
	PUT(p->b, 1);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8);
	PMEND_ASSERT_ORDERED(&p->b, 8, &p->a, 8); /* BUG: assert-ordered */
}

static void barrier_of_loads_between(struct pm *p)
{
	PUT(p->a, 1);
	BARRIER("dmb ishld");
	PUT(p->b, 1);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8); /* BUG: assert-ordered */
}

/* A release comes after what was stored before it, but what is stored after it may overtake it. */
static void after_a_release(struct pm *p)
{
	__atomic_store_n(&p->a, 1, __ATOMIC_RELEASE);
	PUT(p->b, 1);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8); /* BUG: assert-ordered */
}

static void after_a_release_and_an_acquire(struct pm *p)
{
	__atomic_store_n(&p->a, 1, __ATOMIC_RELEASE);
	__asm__ volatile("ldar x9, [%0]" ::"r"(&p->c) : "x9", "memory");
	PUT(p->b, 1);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8);
}

/* A barrier is not enough for two lines. */
static void in_two_lines(struct pm *p)
{
	PUT(p->a, 1);
	flush_line(&p->a);
	BARRIER("dmb ish");
	PUT(p->c, 1);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8); /* BUG: assert-ordered */
}

static void atomic(struct pm *p)
{
	PUT(p->a, 1);
	flush_line(&p->a);
	atomic_exchange((_Atomic uint64_t *)&p->c, 1);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8); /* BUG: assert-ordered */
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, in_one_line, barrier_between, barrier_of_loads_between, after_a_release, after_a_release_and_an_acquire,
			 in_two_lines, atomic);
}
