/* libpmemobj's transactions: a store to memory that was neither added nor allocated in the transaction. What was not added is not
 * flushed at the end either. */
#include <libpmemobj.h>

#include "corpus.h"

TOID_DECLARE(struct node, 0);

struct node {
	uint64_t value;
	TOID(struct node) next;
};

/* A line for each field. */
struct root {
	_Alignas(64) uint64_t a;
	_Alignas(64) uint64_t b;
	_Alignas(64) uint64_t c;
	_Alignas(64) uint64_t e;
	_Alignas(64) uint64_t f;
	_Alignas(64) uint64_t g;
	_Alignas(64) uint64_t h;
	_Alignas(64) char text[256];
	_Alignas(64) TOID(struct node) head;
};

static void add_is_forgotten(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->a);
		r->a = 1;
		r->b = 2; /* BUG: tx-missing-add */ /* CAUSED: missing-flush */
	}
	TX_END
}

static void both_are_added(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->a);
		r->a = 3;
		TX_ADD_DIRECT(&r->c);
		r->c = 4;
	}
	TX_END
}

static void too_little_is_added(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		pmemobj_tx_add_range_direct(r->text, 64);
		memset(r->text, 'x', 128); /* BUG: tx-missing-add */ /* CAUSED: missing-flush */
	}
	TX_END
}

static void added_too_late(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		*(volatile uint64_t *)&r->e = 5; /* BUG: tx-missing-add */
		TX_ADD_DIRECT(&r->e);
		r->e = 6;
	}
	TX_END
}

/* The usual insertion at the head of a list, with and without the line that logs the head. */
static void insert(PMEMobjpool *pop, struct root *r, int is_careful)
{
	TX_BEGIN(pop)
	{
		TOID(struct node) node = TX_NEW(struct node);

		D_RW(node)->value = 1;
		D_RW(node)->next = r->head;
		if (is_careful)
			TX_ADD_DIRECT(&r->head);
		r->head = node; /* BUG: tx-missing-add */
	}
	TX_END
	if (!is_careful)
		pmemobj_persist(pop, &r->head, sizeof r->head);
}

static __attribute__((noinline)) void change_inner(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		r->f++; /* BUG: tx-missing-add */ /* CAUSED: missing-flush */
	}
	TX_END
}

/* What the outer transaction added need not be added by the inner one; what nobody added is missing. */
static void nested(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->f);
		change_inner(pop, r);
	}
	TX_END
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->a);
		r->a = 1;
		change_inner(pop, r);
	}
	TX_END
}

struct shared {
	PMEMobjpool *pop;
	struct root *r;
};

static void *other_thread(void *arg)
{
	struct shared *s = arg;

	TX_BEGIN(s->pop)
	{
		s->r->g = 1; /* BUG: tx-missing-add */
	}
	TX_END
	return NULL;
}

/* What one thread's transaction added, another's did not. */
static void added_by_another_thread(PMEMobjpool *pop, struct root *r)
{
	struct shared s = { pop, r };
	pthread_t thread;

	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->g);
		r->g = 2;
		CHECK(pthread_create(&thread, NULL, other_thread, &s) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
	TX_END
}

/* What is allocated inside and freed inside leaves the log, and the inner transaction ends, but the outer one goes on. */
static void after_a_free_inside(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->a);
		r->a = 5;
		TX_BEGIN(pop)
		{
			TOID(struct node) n = TX_ZNEW(struct node);

			D_RW(n)->value = 1;
			TX_FREE(n);
		}
		TX_END
		r->h = 6; /* BUG: tx-missing-add */ /* CAUSED: missing-flush */
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
	insert(pop, r, 1);
	insert(pop, r, 0);
	both_are_added(pop, r);
	added_too_late(pop, r);
	add_is_forgotten(pop, r);
	too_little_is_added(pop, r);
	nested(pop, r);
	after_a_free_inside(pop, r);
	added_by_another_thread(pop, r);
	pmemobj_close(pop);
	return 0;
}
