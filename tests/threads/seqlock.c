/* Two words under a seqlock: readers try again if a writer came between. They keep the pair that they have read. Broken: the version says
 * "complete" before the words are durable. */
#include "threads.h"

#define ROUNDS 3

struct pool {
	_Alignas(64) uint64_t low;
	_Alignas(64) uint64_t high;
	struct {
		_Alignas(64) uint64_t low, high;
	} seen[THREADS_MAX];
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER; /* of writers */
static _Atomic uint64_t g_version;			   /* odd: a writer is at it */

static void persist_pair(struct pool *p)
{
	flush(&p->low, sizeof p->low);
	flush(&p->high, sizeof p->high);
	fence();
}

static void change(struct pool *p)
{
	pthread_mutex_lock(&g_lock);
	atomic_fetch_add(&g_version, 1);
	ONCE(p->low) = p->low + 1000; /* BUG */
	ONCE(p->high) = p->high + 5000; /* BUG */
	if (!IS_BROKEN)
		persist_pair(p);
	atomic_fetch_add(&g_version, 1);
	if (IS_BROKEN)
		persist_pair(p);
	pthread_mutex_unlock(&g_lock);
}

static void keep(struct pool *p, int who)
{
	uint64_t before, low, high;

	for (;;) {
		before = atomic_load_explicit(&g_version, memory_order_acquire);
		low = ONCE(p->low);
		high = ONCE(p->high);
		atomic_thread_fence(memory_order_acquire);
		if (before % 2 == 0 && atomic_load_explicit(&g_version, memory_order_relaxed) == before)
			break;
		sched_yield();
	}
	CHECK(high == 5 * low);
	p->seen[who].low = low;
	p->seen[who].high = high;
	persist(&p->seen[who], sizeof p->seen[who]);
}

static void work(void *pool, int who, int nthreads)
{
	(void)nthreads;
	for (int i = 0; i < ROUNDS; i++) {
		if (who % 2 == 0)
			change(pool);
		keep(pool, who);
	}
}

static void check(void *pool)
{
	const struct pool *p = pool;

	for (int i = 0; i < THREADS_MAX; i++)
		CHECK(p->seen[i].low <= p->low && p->seen[i].high <= p->high);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
