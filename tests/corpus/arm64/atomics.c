/* No atomic instruction and no release completes a flush; what they store needs one, too. */
#include "tests/corpus/corpus.h"

static atomic_uint_fast64_t g_counter; /* in ordinary memory */

static void fetch_add_is_no_fence(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	atomic_fetch_add(&g_counter, 1);
}

static void compare_and_swap_is_no_fence(struct pm *p)
{
	uint64_t not_the_value = 1234567;

	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	CHECK(!atomic_compare_exchange_strong(&g_counter, &not_the_value, 0));
}

static void release_is_no_fence(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	atomic_store(&g_counter, 1);
}

static void fenced(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	atomic_fetch_add(&g_counter, 1);
	fence();
}

static void its_own_store_is_not_flushed(struct pm *p)
{
	__atomic_fetch_add(&p->a, 1, __ATOMIC_SEQ_CST); /* BUG: missing-flush-fence */
}

static void its_own_store_is_persisted(struct pm *p)
{
	__atomic_fetch_add(&p->a, 1, __ATOMIC_SEQ_CST);
	persist(&p->a, 8);
}

static void a_release_is_not_flushed(struct pm *p)
{
	__atomic_store_n(&p->a, 1, __ATOMIC_RELEASE); /* BUG: missing-flush-fence */
}

static void a_release_is_persisted(struct pm *p)
{
	__atomic_store_n(&p->a, 1, __ATOMIC_RELEASE);
	persist(&p->a, 8);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, fetch_add_is_no_fence, compare_and_swap_is_no_fence, release_is_no_fence, fenced, its_own_store_is_not_flushed,
			 its_own_store_is_persisted, a_release_is_not_flushed, a_release_is_persisted);
}
