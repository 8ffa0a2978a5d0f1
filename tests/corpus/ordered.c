/* PMEND_ASSERT_ORDERED(a, b): whoever finds b's newest value after a crash finds a's, too. */
#include "corpus.h"

typedef uint64_t vector __attribute__((vector_size(16)));
typedef vector unaligned __attribute__((aligned(8)));

#define PUT(field, value) (*(volatile uint64_t *)&(field) = (value))

static void persisted_first(struct pm *p)
{
	PUT(p->a, 1);
	persist(&p->a, 8);
	PUT(p->c, 1);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8);
	PMEND_ASSERT_ORDERED(&p->c, 8, &p->a, 8); /* BUG: assert-ordered */
}

/* All is durable when the assertion comes, but was not in this order. */
static void fenced_too_late(struct pm *p)
{
	PUT(p->a, 1);
	flush_line(&p->a);
	PUT(p->c, 1);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8); /* BUG: assert-ordered */
	PMEND_ASSERT_DURABLE(&p->a, 8);
}

static void still_not_durable(struct pm *p)
{
	PUT(p->a, 1);
	PUT(p->c, 1);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8); /* BUG: assert-ordered */
	persist(&p->a, 8);
	persist(&p->c, 8);
}

/* Only the newest values count. */
static void right_the_second_time(struct pm *p)
{
	PUT(p->c, 1);
	PUT(p->a, 1);
	persist(&p->c, 8);
	persist(&p->a, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8); /* BUG: assert-ordered */
	PUT(p->a, 2);
	persist(&p->a, 8);
	PUT(p->c, 2);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8);
}

/* A release to the same line becomes durable after what was stored before. */
static void in_one_line(struct pm *p)
{
	PUT(p->a, 1);
	__atomic_store_n(&p->b, 1, __ATOMIC_RELEASE);
	persist(&p->a, 16);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->b, 8);
	PMEND_ASSERT_ORDERED(&p->b, 8, &p->a, 8); /* BUG: assert-ordered */
}

/* One store: of 8 bytes, all or nothing; of 16 bytes, in any order, but for 16 aligned ones on amd64. */
static void one_store(struct pm *p)
{
	PUT(p->a, 0x100000001);
	persist(&p->a, 8);
	PMEND_ASSERT_ORDERED((char *)&p->a, 4, (char *)&p->a + 4, 4);
	*(volatile vector *)p->text = (vector){ 'x', 'x' };
	persist(p->text, 16);
	PMEND_ASSERT_ORDERED(p->text, 4, p->text + 4, 4);
	PMEND_ASSERT_ORDERED(p->text, 8, p->text + 8, 8); /* BUG arm64: assert-ordered */
	*(volatile unaligned *)(p->text + 24) = (unaligned){ 'x', 'x' };
	persist(p->text + 24, 16);
	PMEND_ASSERT_ORDERED(p->text + 24, 4, p->text + 28, 4);
	PMEND_ASSERT_ORDERED(p->text + 24, 8, p->text + 32, 8); /* BUG: assert-ordered */
}

static void long_range(struct pm *p)
{
	memset(p->text, 'x', sizeof p->text);
	persist(p->text, sizeof p->text);
	PUT(p->c, 1);
	persist(&p->c, 8);
	PMEND_ASSERT_ORDERED(p->text, sizeof p->text, &p->c, 8);
	p->text[200] = 'y';
	persist(p->text + 200, 1);
	PMEND_ASSERT_ORDERED(p->text, 192, &p->c, 8);
	PMEND_ASSERT_ORDERED(p->text, sizeof p->text, &p->c, 8); /* BUG: assert-ordered */
}

static void never_stored_to(struct pm *p)
{
	PUT(p->a, 1);
	PMEND_ASSERT_ORDERED(&p->c, 8, &p->a, 8);
	PMEND_ASSERT_ORDERED(&p->a, 8, &p->c, 8);
	persist(&p->a, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, persisted_first, fenced_too_late, still_not_durable, right_the_second_time, in_one_line,
			 one_store, long_range, never_stored_to);
}
