/* The program's own locked instructions complete flushes, even those that store nothing; what they store needs a flush, too. */
#include "tests/corpus/corpus.h"

static atomic_uint_fast64_t g_counter; /* in ordinary memory */

static void fetch_add_is_a_fence(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	atomic_fetch_add(&g_counter, 1);
}

static void exchange_is_a_fence(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	atomic_exchange(&g_counter, 5);
}

static void failed_compare_and_swap_is_a_fence(struct pm *p)
{
	uint64_t not_the_value = 1234567;

	p->a = 1;
	flush_line(&p->a);
	CHECK(!atomic_compare_exchange_strong(&g_counter, &not_the_value, 0));
}

static void it_comes_before_the_flush(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	atomic_fetch_add(&g_counter, 1);
	flush_line(&p->a);
}

/* The fence that is part of the instruction does not count: nothing can be written back before it. */
static void its_own_store_is_not_flushed(struct pm *p)
{
	__atomic_fetch_add(&p->a, 1, __ATOMIC_SEQ_CST); /* BUG: missing-flush-fence */
}

static void its_own_store_is_persisted(struct pm *p)
{
	__atomic_fetch_add(&p->a, 1, __ATOMIC_SEQ_CST);
	flush_line(&p->a);
	fence();
}

/* It fences before it stores: one does the work of two. */
static void publish(struct pm *p)
{
	uint64_t none = 0;

	p->a = 1;
	flush_line(&p->a);
	__atomic_compare_exchange_n(&p->c, &none, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	flush_line(&p->c);
	fence();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, fetch_add_is_a_fence, exchange_is_a_fence, failed_compare_and_swap_is_a_fence,
			 it_comes_before_the_flush, its_own_store_is_not_flushed, its_own_store_is_persisted, publish);
}
