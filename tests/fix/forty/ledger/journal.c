/* journal.c -- a transfer changes two accounts: it is written down first */
#include <libpmem.h>

#include "ledger.h"

/* The caller drains. */
static void balance_store(struct account *a, int64_t balance, uint64_t moves)
{
	a->balance = balance;
	a->moves = moves;
	pmem_flush(&a->balance, sizeof(a->balance) + sizeof(a->moves));
}

static void history_store(struct history *h, uint64_t serial, const struct journal *j)
{
	struct entry *e = &h->entry[serial % HISTORY_LEN];

	e->from = j->from;
	e->to = j->to;
	e->cents = j->cents;
	pmem_flush(e, sizeof(*e));
	h->length = serial + 1;
	pmem_flush(&h->length, sizeof(h->length));
}

/* May be done twice: a crash may come before active is 0. */
static void journal_apply(struct ledger *l)
{
	struct journal *j = &l->journal;

	balance_store(&l->account[j->from], j->from_balance, j->from_moves);
	balance_store(&l->account[j->to], j->to_balance, j->to_moves);
	history_store(&l->history, j->serial, j);
	pmem_drain();

	j->active = 0;
	pmem_persist(&j->active, sizeof(j->active));
}

void journal_recover(struct ledger *l)
{
	if (l->journal.active)
		journal_apply(l);
}

void journal_transfer(struct ledger *l, struct account *from, struct account *to, int64_t cents)
{
	struct journal *j = &l->journal;

	j->from = (uint32_t)(from - l->account);
	j->to = (uint32_t)(to - l->account);
	j->cents = cents;
	j->from_balance = from->balance - cents;
	j->to_balance = to->balance + cents;
	j->from_moves = from->moves + 1;
	j->to_moves = to->moves + 1;
	j->serial = l->history.length;
	pmem_persist(j, offsetof(struct journal, active));

	j->active = 1;
	pmem_persist(&j->active, sizeof(j->active));
	journal_apply(l);
}
