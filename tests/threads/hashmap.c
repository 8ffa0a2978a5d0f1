/* A hash map with a lock per bucket, whose values only grow. Threads add to a value, and note what they have read elsewhere in the pool. Broken: a
 * bucket's lock is released before its store is durable. */
#include "threads.h"

#define BUCKETS 4
#define SLOTS 4
#define KEYS 6u
#define ROUNDS 3

struct slot {
	_Alignas(64) uint64_t key;
	uint64_t value;
	_Alignas(64) uint64_t is_used;
};

struct pool {
	struct slot map[BUCKETS][SLOTS];
	struct {
		_Alignas(64) uint64_t value[KEYS];
	} seen[THREADS_MAX];
};

static pthread_mutex_t g_locks[BUCKETS];

static struct slot *find(struct pool *p, uint64_t key, bool is_new)
{
	struct slot *bucket = p->map[key % BUCKETS];

	for (int i = 0; i < SLOTS; i++)
		if (bucket[i].is_used ? bucket[i].key == key : is_new)
			return &bucket[i];
	return NULL;
}

static void add(struct pool *p, uint64_t key)
{
	pthread_mutex_t *lock = &g_locks[key % BUCKETS];
	uint64_t *last;
	struct slot *s;

	pthread_mutex_lock(lock);
	s = find(p, key, true);
	CHECK(s);
	if (s->is_used) {
		s->value += 1000; /* BUG */
		last = &s->value;
	} else {
		s->key = key;
		s->value = 1000;
		persist(s, offsetof(struct slot, is_used));
		s->is_used = 1; /* BUG */
		last = &s->is_used;
	}
	if (!IS_BROKEN)
		persist(last, sizeof *last);
	pthread_mutex_unlock(lock);
	if (IS_BROKEN)
		persist(last, sizeof *last);
}

static uint64_t get(struct pool *p, uint64_t key)
{
	pthread_mutex_t *lock = &g_locks[key % BUCKETS];
	const struct slot *s;
	uint64_t value;

	pthread_mutex_lock(lock);
	s = find(p, key, false);
	value = s ? s->value : 0;
	pthread_mutex_unlock(lock);
	return value;
}

static void note(struct pool *p, int who, uint64_t key)
{
	p->seen[who].value[key] = get(p, key);
	persist(&p->seen[who].value[key], 8);
}

static void prepare(void *pool, int nthreads)
{
	(void)pool;
	(void)nthreads;
	for (int i = 0; i < BUCKETS; i++)
		pthread_mutex_init(&g_locks[i], NULL);
}

static void work(void *pool, int who, int nthreads)
{
	(void)nthreads;
	for (unsigned i = 0; i < ROUNDS; i++) {
		add(pool, ((unsigned)who + i) % KEYS);
		note(pool, who, ((unsigned)who + i + 1) % KEYS);
	}
}

static void check(void *pool)
{
	struct pool *p = pool;

	for (int who = 0; who < THREADS_MAX; who++)
		for (uint64_t key = 0; key < KEYS; key++) {
			const struct slot *s = find(p, key, false);

			CHECK(p->seen[who].value[key] <= (s ? s->value : 0));
		}
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .prepare = prepare, .work = work, .check = check }, argc, argv);
}
