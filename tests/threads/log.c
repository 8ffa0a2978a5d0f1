/* An append log with a segment per thread. Each thread also makes checkpoints: how long the others' segments are, and the sum of what is in them.
 * A length in ordinary memory follows the durable one, and readers go by that. Broken: readers go by the length in the pool. */
#include "threads.h"

#define ROUNDS 3

struct segment {
	_Alignas(64) uint64_t nrecords;
	_Alignas(64) uint64_t records[ROUNDS];
};

struct pool {
	struct segment segments[THREADS_MAX];
	struct {
		_Alignas(64) uint64_t n; /* of the segment; the sum is valid for it */
	} seen[THREADS_MAX][THREADS_MAX];
	struct {
		_Alignas(64) uint64_t sum[ROUNDS + 1]; /* of so many records */
	} sums[THREADS_MAX][THREADS_MAX];
};

static _Atomic uint64_t g_durable[THREADS_MAX];

static void append(struct pool *p, int who, uint64_t record)
{
	struct segment *s = &p->segments[who];

	s->records[s->nrecords] = record;
	persist(&s->records[s->nrecords], sizeof record);
	ONCE(s->nrecords) = s->nrecords + 1; /* BUG */
	persist(&s->nrecords, sizeof s->nrecords);
	atomic_store_explicit(&g_durable[who], s->nrecords, memory_order_release);
}

static void checkpoint(struct pool *p, int who, int other)
{
	struct segment *s = &p->segments[other];
	const uint64_t n = IS_BROKEN ? ONCE(s->nrecords) : atomic_load_explicit(&g_durable[other], memory_order_acquire);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += ONCE(s->records[i]);
	p->sums[who][other].sum[n] = sum;
	persist(&p->sums[who][other].sum[n], sizeof sum);
	p->seen[who][other].n = n;
	persist(&p->seen[who][other].n, sizeof n);
}

static void work(void *pool, int who, int nthreads)
{
	for (int i = 0; i < ROUNDS; i++) {
		append(pool, who, 1000 * ((unsigned)who + 1) + (unsigned)i);
		checkpoint(pool, who, (who + 1) % nthreads);
	}
}

static void check(void *pool)
{
	const struct pool *p = pool;

	for (int who = 0; who < THREADS_MAX; who++)
		for (int other = 0; other < THREADS_MAX; other++) {
			const uint64_t n = p->seen[who][other].n;
			uint64_t sum = 0;

			CHECK(n <= p->segments[other].nrecords);
			for (uint64_t i = 0; i < n; i++)
				sum += p->segments[other].records[i];
			CHECK(sum == p->sums[who][other].sum[n]);
		}
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
