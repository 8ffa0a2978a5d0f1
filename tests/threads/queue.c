/* A queue with one lock. Some threads put jobs in, the others do them, which leaves results in the pool. Broken: the lock is released before the
 * number of jobs is durable. */
#include "threads.h"

#define ROUNDS 3
#define JOBS (THREADS_MAX * ROUNDS)

struct pool {
	_Alignas(64) uint64_t nput;
	_Alignas(64) uint64_t ntaken;
	struct {
		_Alignas(64) uint64_t job, result;
	} slots[JOBS];
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

static void put(struct pool *p, uint64_t job)
{
	pthread_mutex_lock(&g_lock);
	p->slots[p->nput].job = job;
	persist(&p->slots[p->nput].job, sizeof job);
	p->nput++; /* BUG */
	if (!IS_BROKEN)
		persist(&p->nput, sizeof p->nput);
	pthread_mutex_unlock(&g_lock);
	if (IS_BROKEN)
		persist(&p->nput, sizeof p->nput);
}

static void take(struct pool *p)
{
	pthread_mutex_lock(&g_lock);
	if (p->ntaken < p->nput) {
		const uint64_t i = p->ntaken;

		p->slots[i].result = 2 * p->slots[i].job;
		persist(&p->slots[i].result, sizeof p->slots[i].result);
		p->ntaken = i + 1;
		persist(&p->ntaken, sizeof p->ntaken);
	}
	pthread_mutex_unlock(&g_lock);
}

static void work(void *pool, int who, int nthreads)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (who % 2 == 0)
			put(pool, 1000 * ((unsigned)who + 1) + (unsigned)i);
		if (who % 2 == 1 || nthreads == 1)
			take(pool);
	}
}

static void check(void *pool)
{
	const struct pool *p = pool;

	CHECK(p->ntaken <= p->nput);
	for (uint64_t i = 0; i < p->nput; i++)
		CHECK(p->slots[i].job >= 1000);
	for (uint64_t i = 0; i < p->ntaken; i++)
		CHECK(p->slots[i].result == 2 * p->slots[i].job);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
