/* A thread pool. Workers compute results, and the first thread notes which tasks are done, and adds their results. Broken: a worker flushes its
 * result and leaves the fence to the first thread, whose fence does not complete another thread's flushes. */
#include "threads.h"

#define TASKS_EACH 2
#define TASKS (THREADS_MAX * TASKS_EACH)

struct pool {
	_Alignas(64) uint64_t ndone;
	_Alignas(64) uint64_t sum[TASKS + 1]; /* of so many tasks */
	struct {
		_Alignas(64) uint64_t input;
		_Alignas(64) uint64_t result;
	} tasks[TASKS];
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static int g_next, g_ntasks;
static _Atomic int g_is_ready[TASKS];

static int take(void)
{
	int task;

	pthread_mutex_lock(&g_lock);
	task = g_next < g_ntasks ? g_next++ : -1;
	pthread_mutex_unlock(&g_lock);
	return task;
}

static void compute(struct pool *p)
{
	for (int i; (i = take()) >= 0;) {
		p->tasks[i].result = 1000 * p->tasks[i].input; /* BUG */
		flush(&p->tasks[i].result, sizeof p->tasks[i].result);
		if (!IS_BROKEN)
			fence();
		/* no locked instruction: that would be a fence */
		atomic_store_explicit(&g_is_ready[i], 1, memory_order_release);
	}
}

static void complete(struct pool *p)
{
	for (int i = 0; i < g_ntasks; i++) {
		while (!atomic_load_explicit(&g_is_ready[i], memory_order_acquire))
			sched_yield();
		if (IS_BROKEN)
			fence();
		p->sum[i + 1] = p->sum[i] + ONCE(p->tasks[i].result);
		persist(&p->sum[i + 1], sizeof p->sum[i + 1]);
		p->ndone = (uint64_t)i + 1;
		persist(&p->ndone, sizeof p->ndone);
	}
}

static void prepare(void *pool, int nthreads)
{
	struct pool *p = pool;

	g_ntasks = nthreads * TASKS_EACH;
	for (int i = 0; i < g_ntasks; i++) {
		p->tasks[i].input = (uint64_t)i + 1;
		flush(&p->tasks[i].input, sizeof p->tasks[i].input);
	}
	fence();
}

static void work(void *pool, int who, int nthreads)
{
	if (who > 0 || nthreads == 1)
		compute(pool);
	if (who == 0)
		complete(pool);
}

static void check(void *pool)
{
	const struct pool *p = pool;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < p->ndone; i++) {
		CHECK(p->tasks[i].result == 1000 * p->tasks[i].input);
		sum += p->tasks[i].result;
	}
	CHECK(sum == p->sum[p->ndone]);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .prepare = prepare, .work = work, .check = check }, argc, argv);
}
