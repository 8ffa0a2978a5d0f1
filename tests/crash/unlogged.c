/* A ledger on libpmemobj: a transfer is a transaction that changes two balances, a counter and the newest entry; it is announced before. In some cases, what it stores is not added to it.
 *
 *	PROG POOL CASE		creates the pool and makes transfers
 *	PROG POOL CASE recover	status 1: the ledger is wrong */
#include <libpmemobj.h>
#include <stdbool.h>
#include <valgrind/valgrind.h>

#include "pm.h"

#define READY 0x5eadb00c5eadb00cu

enum { TOTAL = 1000, ACCOUNTS = 4, TRANSFERS = 3 };

/* Apart from each other, so that no commit writes one back by chance. */
struct cell {
	uint64_t n, rest[15];
};

struct root {
	struct cell is_ready, announced, count, sum_of_entries, balance[ACCOUNTS], entry[TRANSFERS + 1];
};

static bool is_case(char **argv, const char *name)
{
	return strcmp(argv[2], name) == 0;
}

/* Neither function adds what it stores. */
static __attribute__((noinline)) void count_one(struct root *r)
{
	r->count.n++; /* BUG: functions: tx-missing-add store */
}

static __attribute__((noinline)) void note_last(struct root *r, uint64_t i)
{
	r->count.rest[1] = i; /* BUG: functions: tx-missing-add store */
}

/* The sum of all balances stays; entries are counted, and their sum is kept. */
static void transfer(PMEMobjpool *pop, struct root *r, char **argv, uint64_t i)
{
	struct cell *from = &r->balance[i % ACCOUNTS], *to = &r->balance[(i + 1) % ACCOUNTS];

	r->announced.n = i; /* BUG: late: ordering lost */
	if (!is_case(argv, "late"))
		pmemobj_persist(pop, &r->announced.n, sizeof r->announced.n);
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&from->n);
		from->n -= i;
		if (!is_case(argv, "balance") && !is_case(argv, "both") && !is_case(argv, "late") && !is_case(argv, "after"))
			TX_ADD_DIRECT(&to->n);
		to->n += i; /* BUG: after: tx-missing-add store */ /* BUG: balance: tx-missing-add store */ /* BUG: both: tx-missing-add store */ /* BUG: late: tx-missing-add store */
		if (is_case(argv, "after"))
			TX_ADD_DIRECT(&to->n);
		TX_ADD_DIRECT(&r->entry[r->count.n].n);
		r->entry[r->count.n].n = i;
		TX_ADD_DIRECT(&r->sum_of_entries.n);
		r->sum_of_entries.n += i;
		if (!is_case(argv, "count") && !is_case(argv, "both") && !is_case(argv, "line") && !is_case(argv, "functions") && !is_case(argv, "fields") && !(is_case(argv, "apart") && i < TRANSFERS))
			TX_ADD_DIRECT(&r->count.n);
		if (is_case(argv, "functions")) {
			note_last(r, i);
			count_one(r);
		} else if (is_case(argv, "fields")) { /* of one line, with another one between, in a program that adds fields */
			r->count.n++;	      /* BUG: fields: tx-missing-add store */
			r->count.rest[2] = i; /* BUG: fields: tx-missing-add store */
		} else {
			r->count.n++; /* BUG: count: tx-missing-add store */ /* BUG: both: tx-missing-add store */ /* BUG: line: tx-missing-add store */ /* BUG: apart: tx-missing-add store */
		}
		if (is_case(argv, "line") || is_case(argv, "apart")) {
			if (is_case(argv, "apart") && i == 1)
				TX_ADD_DIRECT(&r->count.rest[0]);
			r->count.rest[0] = i; /* BUG: apart: tx-missing-add store */
		}
	}
	TX_END
	if (is_case(argv, "late"))
		pmemobj_persist(pop, &r->announced.n, sizeof r->announced.n);
}

enum { PMC_TX_IGNORE = VG_USERREQ_TOOL_BASE('P', 'C') + 28 };

/* A transaction that its operation does not end: until that is done, a crash undoes that the entry is counted, but not its sum. */
static void leave_open(PMEMobjpool *pop, struct root *r)
{
	r->entry[0].n = 5;
	pmemobj_persist(pop, &r->entry[0].n, sizeof r->entry[0].n);
	r->announced.n = 1;
	pmemobj_persist(pop, &r->announced.n, sizeof r->announced.n);
	VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_TX_IGNORE, &r->sum_of_entries.n, 8, 0, 0, 0);
	PMEND_OP_BEGIN("count");
	pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE);
	pmemobj_tx_add_range_direct(&r->count.n, sizeof r->count.n);
	r->count.n = 1;
	r->sum_of_entries.n = 5;
	pmemobj_persist(pop, &r->sum_of_entries.n, sizeof r->sum_of_entries.n);
	PMEND_OP_END("count");
	pmemobj_tx_commit();
	pmemobj_tx_end();
}

/* Like the other, but it adds all that it stores. What is stored after the operation relies on it. */
static void leave_open_and_tell(PMEMobjpool *pop, struct root *r)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(PMC_TX_IGNORE, &r->announced.n, 8, 0, 0, 0);
	PMEND_OP_BEGIN("count");
	pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE);
	pmemobj_tx_add_range_direct(&r->count.n, sizeof r->count.n);
	r->count.n = 1;
	PMEND_OP_END("count");
	r->announced.n = 1;
	pmemobj_persist(pop, &r->announced.n, sizeof r->announced.n);
	pmemobj_tx_commit();
	pmemobj_tx_end();
}

static void recover(const char *path, int is_told)
{
	PMEMobjpool *pop = pmemobj_open(path, "ledger");
	struct root *r;
	uint64_t total = 0, sum = 0;

	CHECK(pop);
	r = pmemobj_direct(pmemobj_root(pop, sizeof *r));
	for (uint64_t i = 0; i < ACCOUNTS; i++)
		total += r->balance[i].n;
	for (uint64_t i = 0; i < r->count.n && i < TRANSFERS; i++)
		sum += r->entry[i].n;
	if (r->is_ready.n == READY) {
		CHECK(total == TOTAL);
		CHECK(is_told ? r->count.n >= r->announced.n : r->count.n <= r->announced.n);
		CHECK(r->count.n <= TRANSFERS && sum == r->sum_of_entries.n);
	}
	pmemobj_close(pop);
}

int main(int argc, char **argv)
{
	PMEMobjpool *pop;
	struct root *r;

	if (argc > 3) {
		recover(argv[1], is_case(argv, "tell"));
		return 0;
	}
	pop = access(argv[1], F_OK) == 0 ? pmemobj_open(argv[1], "ledger") : pmemobj_create(argv[1], "ledger", PMEMOBJ_MIN_POOL, 0600);
	r = pmemobj_direct(pmemobj_root(pop, sizeof *r));
	if (is_case(argv, "create")) {
		r->balance[0].n = TOTAL;
		pmemobj_persist(pop, &r->balance[0], sizeof r->balance[0]);
		r->is_ready.n = READY;
		pmemobj_persist(pop, &r->is_ready, sizeof r->is_ready);
	}
	if (is_case(argv, "open"))
		leave_open(pop, r);
	if (is_case(argv, "tell"))
		leave_open_and_tell(pop, r);
	for (uint64_t i = 1; !is_case(argv, "create") && !is_case(argv, "open") && !is_case(argv, "tell") && i <= TRANSFERS; i++)
		transfer(pop, r, argv, i);
	pmemobj_close(pop);
	return 0;
}
