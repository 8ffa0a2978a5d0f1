/* A sorted list without locks, with link-and-persist: a link is marked until it is durable, and whoever meets a marked link makes it durable and
 * clears the mark. Broken: it only ignores the mark, so a node can be durable behind a link that is not. */
#include "threads.h"

#define ROUNDS 3
#define MARK 1ul

struct node {
	_Alignas(64) uint64_t key;
	_Atomic uint64_t next; /* offset in the pool; 0: none */
};

struct pool {
	_Alignas(64) _Atomic uint64_t head;
	struct {
		_Alignas(64) uint64_t ninserted;
	} done[THREADS_MAX];
	struct node nodes[THREADS_MAX][ROUNDS];
};

static struct node *node_at(struct pool *p, uint64_t offset)
{
	return (struct node *)((char *)p + offset);
}

static uint64_t follow(_Atomic uint64_t *link)
{
	uint64_t value = atomic_load_explicit(link, memory_order_acquire), marked = value;

	if (IS_BROKEN || !(value & MARK))
		return value & ~MARK;
	persist(link, sizeof *link);
	atomic_compare_exchange_strong(link, &marked, value & ~MARK);
	return value & ~MARK;
}

static void insert(struct pool *p, struct node *n, uint64_t key)
{
	const uint64_t own = (uint64_t)((char *)n - (char *)p);
	_Atomic uint64_t *link;
	uint64_t next, marked = own | MARK;

	n->key = key;
	do {
		link = &p->head;
		while ((next = follow(link)) && node_at(p, next)->key < key)
			link = &node_at(p, next)->next;
		atomic_store_explicit(&n->next, next, memory_order_relaxed);
		persist(n, sizeof *n);
	} while (!atomic_compare_exchange_strong(link, &next, own | MARK)); /* BUG */
	persist(link, sizeof *link);
	atomic_compare_exchange_strong(link, &marked, own);
}

static void work(void *pool, int who, int nthreads)
{
	struct pool *p = pool;

	(void)nthreads;
	for (unsigned i = 0; i < ROUNDS; i++) {
		insert(p, &p->nodes[who][i], 1000 * (i + 1) + (unsigned)who);
		p->done[who].ninserted = i + 1;
		persist(&p->done[who], sizeof p->done[who]);
	}
}

static void check(void *pool)
{
	uint64_t count[THREADS_MAX] = { 0 }, last = 0;
	struct pool *p = pool;

	for (uint64_t at = p->head & ~MARK; at; at = node_at(p, at)->next & ~MARK) {
		const uint64_t key = node_at(p, at)->key;

		CHECK(key > last && key % 1000 < THREADS_MAX);
		count[key % 1000]++;
		last = key;
	}
	for (int i = 0; i < THREADS_MAX; i++)
		CHECK(p->done[i].ninserted <= count[i]);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
