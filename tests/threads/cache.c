/* A cache of entries whose versions only grow, with a readers-writer lock. Readers keep a journal of what they have served. Broken: a writer makes
 * its store durable under a reader's lock, which it takes after it has released its own. */
#include "threads.h"

#define ENTRIES 4
#define ROUNDS 3

struct pool {
	struct {
		_Alignas(64) uint64_t version;
	} entries[ENTRIES];
	struct {
		_Alignas(64) uint64_t version;
	} journal[THREADS_MAX][ENTRIES];
};

static pthread_rwlock_t g_lock = PTHREAD_RWLOCK_INITIALIZER;

static void update(struct pool *p, int entry)
{
	uint64_t *version = &p->entries[entry].version;

	pthread_rwlock_wrlock(&g_lock);
	*version += 1000; /* BUG */
	if (IS_BROKEN) {
		pthread_rwlock_unlock(&g_lock);
		pthread_rwlock_rdlock(&g_lock);
	}
	persist(version, sizeof *version);
	pthread_rwlock_unlock(&g_lock);
}

static void serve(struct pool *p, int who, int entry)
{
	uint64_t *journal = &p->journal[who][entry].version;

	pthread_rwlock_rdlock(&g_lock);
	*journal = p->entries[entry].version;
	pthread_rwlock_unlock(&g_lock);
	persist(journal, sizeof *journal);
}

static void work(void *pool, int who, int nthreads)
{
	(void)nthreads;
	for (int i = 0; i < ROUNDS; i++) {
		if (who % 2 == 0)
			update(pool, (who / 2 + i) % ENTRIES);
		serve(pool, who, (who / 2 + i) % ENTRIES);
	}
}

static void check(void *pool)
{
	const struct pool *p = pool;

	for (int who = 0; who < THREADS_MAX; who++)
		for (int i = 0; i < ENTRIES; i++)
			CHECK(p->journal[who][i].version <= p->entries[i].version);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
