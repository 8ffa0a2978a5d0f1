/* Accounts of libpmemobj; each transfer is a transaction. Broken: the lock is released inside of the transaction, so another one builds on what a
 * crash takes back. */
#include <libpmemobj.h>

#include "threads.h"

#define ACCOUNTS 4
#define ROUNDS 2
#define TOTAL (ACCOUNTS * 10000ul)

struct root {
	struct {
		_Alignas(64) uint64_t money;
	} accounts[ACCOUNTS];
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

static struct root *root_of(PMEMobjpool *pop)
{
	return pmemobj_direct(pmemobj_root(pop, sizeof(struct root)));
}

static void move_money(PMEMobjpool *pop, uint64_t *from, uint64_t *to, uint64_t amount)
{
	if (!IS_BROKEN)
		pthread_mutex_lock(&g_lock);
	TX_BEGIN(pop)
	{
		if (IS_BROKEN)
			pthread_mutex_lock(&g_lock);
		pmemobj_tx_add_range_direct(from, sizeof *from);
		pmemobj_tx_add_range_direct(to, sizeof *to);
		*from -= amount; /* BUG */
		*to += amount; /* BUG */
		if (IS_BROKEN)
			pthread_mutex_unlock(&g_lock);
	}
	TX_END
	if (!IS_BROKEN)
		pthread_mutex_unlock(&g_lock);
}


static void work(void *pool, int who, int nthreads)
{
	struct root *r = root_of(pool);

	(void)nthreads;
	for (int i = 0; i < ROUNDS; i++)
		move_money(pool, &r->accounts[(who + i) % ACCOUNTS].money, &r->accounts[(who + i + 1) % ACCOUNTS].money, 100 * ((unsigned)who + 1));
}

static void check(void *pool)
{
	const struct root *r = root_of(pool);
	uint64_t total = 0;

	for (int i = 0; i < ACCOUNTS; i++)
		total += r->accounts[i].money;
	CHECK(total == TOTAL);
}

/* A crash while the pool is made is libpmemobj's affair. */
static void *create(const char *path)
{
	PMEMobjpool *pop;
	struct root *r;

	PMEND_SKIP_FAILURE_BEGIN();
	pop = pmemobj_create(path, "tx", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = root_of(pop);
	for (int i = 0; i < ACCOUNTS; i++)
		r->accounts[i].money = TOTAL / ACCOUNTS;
	pmemobj_persist(pop, r, sizeof *r);
	PMEND_SKIP_FAILURE_END();
	return pop;
}

static void *open_pool(const char *path)
{
	PMEMobjpool *pop = pmemobj_open(path, "tx");

	CHECK(pop);
	return pop;
}

static void close_pool(void *pool)
{
	pmemobj_close(pool);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .work = work, .check = check, .create = create, .open = open_pool, .close = close_pool },
			    argc, argv);
}
