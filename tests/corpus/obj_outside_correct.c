/* libpmemobj: stores outside any transaction, to what transactions modify, that are as they should be. */
#include <libpmemobj.h>

#include <valgrind/valgrind.h>

#include "corpus.h"

enum { PMC_DO_FLUSH = VG_USERREQ_TOOL_BASE('P', 'C') + 5 };

#define PUT(field, value) (*(volatile uint64_t *)&(field) = (value))

struct pair {
	_Alignas(64) uint64_t x;
	uint64_t y;
	_Alignas(64) uint64_t is_valid;
};

struct root {
	_Alignas(64) uint64_t counter, counter_2;
	struct pair first, committed, published, filled;
	_Alignas(64) char text[256];
	_Alignas(64) PMEMoid object;
	_Alignas(64) PMEMoid list[4];
	_Alignas(64) uint64_t nlisted;
	_Alignas(64) uint64_t mask;
};

static void change(PMEMobjpool *pop, struct pair *p)
{
	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(p, 16);
		PUT(p->x, p->x + 1);
		PUT(p->y, p->y + 1);
	}
	TX_END
}

/* What is not in use yet needs no transaction. */
static void initialised_before(PMEMobjpool *pop, struct pair *p)
{
	PUT(p->x, 1);
	PUT(p->y, 2);
	pmemobj_persist(pop, p, 16);
	change(pop, p);
}

/* One word is atomic, several independent ones may share a fence. */
static void single_words(PMEMobjpool *pop, struct root *r)
{
	uint64_t *const counters[] = { &r->counter, &r->counter_2 };

	for (int i = 0; i < 2; i++) {
		TX_BEGIN(pop)
		{
			TX_ADD_DIRECT(counters[i]);
			PUT(*counters[i], 1);
		}
		TX_END
	}
	PUT(r->counter, 2);
	pmemobj_persist(pop, &r->counter, 8);
	PUT(r->counter, 3);
	PUT(r->counter_2, 3);
	pmemobj_flush(pop, &r->counter, 8);
	pmemobj_flush(pop, &r->counter_2, 8);
	pmemobj_drain(pop);
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->counter);
		PUT(r->counter, 4);
	}
	TX_END
}

/* A mask that is computed again at start: the program announces a flush to pmemcheck, and makes none. */
static void announced(PMEMobjpool *pop, struct root *r)
{
	for (int i = 0; i < 3; i++) {
		if (i > 0) {
			PUT(r->mask, 3);
			VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_DO_FLUSH, &r->mask, 8, 0, 0, 0);
		}
		TX_BEGIN(pop)
		{
			TX_ADD_DIRECT(&r->mask);
			PUT(r->mask, 1);
		}
		TX_END
	}
}

/* The program's own protocol: a word that says whether the others hold. */
static void commit_variable(PMEMobjpool *pop, struct pair *p)
{
	change(pop, p);
	PUT(p->is_valid, 0);
	pmemobj_persist(pop, &p->is_valid, 8);
	PUT(p->x, 7);
	PUT(p->y, 8);
	pmemobj_persist(pop, p, 16);
	PUT(p->is_valid, 1);
	pmemobj_persist(pop, &p->is_valid, 8);
	change(pop, p);
}

/* Prepared outside, then made reachable by a transaction. */
static void published_by_a_transaction(PMEMobjpool *pop, struct root *r)
{
	change(pop, &r->published);
	PUT(r->published.x, 7);
	PUT(r->published.y, 8);
	pmemobj_persist(pop, &r->published, 16);
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->nlisted);
		PUT(r->nlisted, r->nlisted + 1);
	}
	TX_END
}

/* An object is freed, and another one takes its place. */
static void freed_and_allocated_again(PMEMobjpool *pop, struct root *r)
{
	for (int i = 0; i < 4; i++) {
		struct pair *p;

		CHECK(pmemobj_alloc(pop, &r->object, sizeof(struct pair), 1, NULL, NULL) == 0);
		p = pmemobj_direct(r->object);
		PUT(p->x, 1);
		PUT(p->y, 2);
		pmemobj_persist(pop, p, 16);
		change(pop, p);
		if (i % 2) {
			pmemobj_free(&r->object);
			continue;
		}
		TX_BEGIN(pop)
		{
			TX_ADD_DIRECT(&r->object);
			pmemobj_tx_free(r->object);
			r->object = OID_NULL;
		}
		TX_END
	}
}

/* Allocated in a transaction, completed outside it, and then put to use. */
static void allocated_in_a_transaction(PMEMobjpool *pop, struct root *r)
{
	for (int i = 0; i < 4; i++) {
		struct pair *p;

		TX_BEGIN(pop)
		{
			pmemobj_tx_add_range_direct(&r->list[i], sizeof r->list[i]);
			r->list[i] = pmemobj_tx_alloc(sizeof(struct pair), 1);
			p = pmemobj_direct(r->list[i]);
			PUT(p->x, 0);
			PUT(p->y, 0);
		}
		TX_END
		p = pmemobj_direct(r->list[i]);
		PUT(p->x, 5);
		PUT(p->y, 6);
		pmemobj_persist(pop, p, 16);
	}
}

/* PMDK's atomic operations change what transactions change, too. */
static void atomic_operations(PMEMobjpool *pop, struct root *r)
{
	for (int i = 0; i < 2; i++) {
		TX_BEGIN(pop)
		{
			pmemobj_tx_add_range_direct(&r->list[i], sizeof r->list[i]);
			pmemobj_tx_free(r->list[i]);
			r->list[i] = OID_NULL;
		}
		TX_END
		CHECK(pmemobj_alloc(pop, &r->list[i], 200, 1, NULL, NULL) == 0);
		pmemobj_free(&r->list[i]);
	}
	TX_BEGIN(pop)
	{
		TX_MEMCPY(r->text, "in a transaction", 17);
	}
	TX_END
	pmemobj_memcpy_persist(pop, r->text + 100, "elsewhere, outside", 19);
}

struct filling {
	struct pair *p;
};

static void *fill(void *arg)
{
	struct filling *f = arg;

	PUT(f->p->x, 5);
	PUT(f->p->y, 6);
	return NULL;
}

/* Another thread works for the transaction. */
static void filled_by_another_thread(PMEMobjpool *pop, struct pair *p)
{
	struct filling f = { p };
	pthread_t thread;

	change(pop, p);
	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(p, 16);
		CHECK(pthread_create(&thread, NULL, fill, &f) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
	TX_END
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct root *r;

	CHECK(argc == 2);
	pop = pmemobj_create(argv[1], "corpus", PMEMOBJ_MIN_POOL, 0666);
	CHECK(pop);
	r = align(pmemobj_direct(pmemobj_root(pop, sizeof *r + LINE_BYTES)));
	initialised_before(pop, &r->first);
	single_words(pop, r);
	announced(pop, r);
	commit_variable(pop, &r->committed);
	published_by_a_transaction(pop, r);
	freed_and_allocated_again(pop, r);
	allocated_in_a_transaction(pop, r);
	atomic_operations(pop, r);
	filled_by_another_thread(pop, &r->filled);
	pmemobj_close(pop);

	/* Open it again: a new beginning. */
	pop = pmemobj_open(argv[1], "corpus");
	CHECK(pop);
	r = align(pmemobj_direct(pmemobj_root(pop, sizeof *r + LINE_BYTES)));
	PUT(r->filled.x, 1);
	PUT(r->filled.y, 1);
	pmemobj_persist(pop, &r->filled, 16);
	pmemobj_close(pop);
	return 0;
}
