/* CHECK: --threads --only unpersisted-read */
/* libpmemobj in several threads, with a mistake: the lock is given back before the transaction ends. obj_threads_correct.c
 * is the same without it. */
#include <libpmemobj.h>

#include "turns.h"

#ifndef IS_BROKEN
#define IS_BROKEN 1
#endif

#define NTHREADS (IS_BROKEN ? 2 : 4)
#define NROUNDS (IS_BROKEN ? 1 : 6)

struct root {
	uint64_t total, pad[7];
	uint64_t seen[8][8];
	PMEMoid list;
	PMEMmutex lock;
};

struct item {
	uint64_t value;
	PMEMoid next;
};

struct worker {
	PMEMobjpool *pop;
	struct root *r;
	int who;
	pthread_t thread;
};

static void window(void)
{
	if (IS_BROKEN) {
		give_to(1);
		await(0);
	}
}

static void add(struct worker *w)
{
	pmemobj_mutex_lock(w->pop, &w->r->lock);
	TX_BEGIN(w->pop)
	{
		TX_ADD_DIRECT(&w->r->total);
		ONCE(w->r->total) = ONCE(w->r->total) + 1000; /* BUG: unpersisted-read */
		if (IS_BROKEN)
			pmemobj_mutex_unlock(w->pop, &w->r->lock);
		window();
	}
	TX_END
	if (!IS_BROKEN)
		pmemobj_mutex_unlock(w->pop, &w->r->lock);
}

static void look(struct worker *w)
{
	pmemobj_mutex_lock(w->pop, &w->r->lock);
	w->r->seen[w->who][0] = ONCE(w->r->total);
	pmemobj_persist(w->pop, &w->r->seen[w->who][0], sizeof(uint64_t));
	pmemobj_mutex_unlock(w->pop, &w->r->lock);
}

static void push(struct worker *w, int i)
{
	TX_BEGIN_PARAM(w->pop, TX_PARAM_MUTEX, &w->r->lock, TX_PARAM_NONE)
	{
		PMEMoid new = pmemobj_tx_zalloc(sizeof(struct item), 1);
		struct item *item = pmemobj_direct(new);

		item->value = (uint64_t)(1000 * w->who + i);
		item->next = w->r->list;
		TX_ADD_DIRECT(&w->r->list);
		w->r->list = new;
	}
	TX_END
}

/* Atomic allocations, which threads share no more than the heap for. */
static void allocate(struct worker *w)
{
	PMEMoid new = OID_NULL;

	CHECK(pmemobj_zalloc(w->pop, &new, 200, 2) == 0);
	memset(pmemobj_direct(new), w->who, 200);
	pmemobj_persist(w->pop, pmemobj_direct(new), 200);
	pmemobj_free(&new);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < NROUNDS; i++) {
		if (IS_BROKEN && w->who == 1) {
			await(1);
			look(w);
			give_to(0);
			continue;
		}
		add(w);
		if (IS_BROKEN)
			continue;
		look(w);
		push(w, i);
		allocate(w);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[4];
	PMEMobjpool *pop;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "threads", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	give_to(0);
	for (int i = 0; i < NTHREADS; i++) {
		w[i] = (struct worker){ pop, pmemobj_direct(pmemobj_root(pop, sizeof(struct root))), i, 0 };
		CHECK(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
	}
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(w[i].thread, NULL);
	pmemobj_close(pop);
	return 0;
}
