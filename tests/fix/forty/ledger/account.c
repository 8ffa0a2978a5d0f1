/* account.c -- what can be done with accounts */
#include <errno.h>
#include <inttypes.h>
#include <libpmem.h>
#include <stdio.h>
#include <string.h>

#include "ledger.h"

static int name_ok(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < ACCOUNT_NAME;
}

struct account *account_find(struct ledger *l, const char *name)
{
	for (uint64_t i = 0; i < l->naccounts; i++)
		if (strcmp(l->account[i].name, name) == 0)
			return &l->account[i];
	return NULL;
}

static void account_fill(struct account *a, const char *name, int64_t cents, uint64_t number)
{
	memset(a, 0, sizeof(*a));
	strcpy(a->name, name);
	a->balance = cents;
	a->opening = cents;
	a->number = number;
}

int account_open(struct ledger *l, const char *name, int64_t cents)
{
	struct account *a;

	if (!name_ok(name) || account_find(l, name)) {
		errno = name_ok(name) ? EEXIST : EINVAL;
		return -1;
	}
	if (l->naccounts == LEDGER_ACCOUNTS) {
		errno = ENOSPC;
		return -1;
	}
	a = &l->account[l->naccounts];
	account_fill(a, name, cents, l->naccounts + 1);
	pmem_persist(a, sizeof(*a));

	l->naccounts++;
	pmem_persist(&l->naccounts, sizeof(l->naccounts));
	return 0;
}

int account_limit(struct ledger *l, const char *name, int64_t cents)
{
	struct account *a = account_find(l, name);

	if (!a || cents < 0 || a->balance < -cents) {
		errno = EINVAL;
		return -1;
	}
	a->limit = cents;
	pmem_persist(&a->limit, sizeof(a->limit));
	return 0;
}

int account_move(struct ledger *l, const char *from, const char *to, int64_t cents)
{
	struct account *a = account_find(l, from);
	struct account *b = account_find(l, to);

	if (!a || !b || a == b || cents <= 0) {
		errno = EINVAL;
		return -1;
	}
	if (a->balance - cents < -a->limit) {
		errno = EDQUOT;
		return -1;
	}
	journal_transfer(l, a, b, cents);
	return 0;
}

/* Money is moved, not made; and each transfer is in the history. */
int account_audit(const struct ledger *l)
{
	const struct history *h = &l->history;
	uint64_t first = h->length > HISTORY_LEN ? h->length - HISTORY_LEN : 0;
	uint64_t moves = 0;
	int64_t opening = 0, balance = 0;

	for (uint64_t i = 0; i < l->naccounts; i++) {
		const struct account *a = &l->account[i];

		if (memchr(a->name, 0, ACCOUNT_NAME) == NULL || !a->name[0] || a->number != i + 1 ||
		    a->balance < -a->limit) {
			fprintf(stderr, "ledger: account %" PRIu64 " is damaged\n", i + 1);
			return -1;
		}
		printf("%s %" PRId64 " (limit %" PRId64 "), %" PRIu64 " moves\n", a->name, a->balance,
		       a->limit, a->moves);
		moves += a->moves;
		opening += a->opening;
		balance += a->balance;
	}
	for (uint64_t i = first; i < h->length; i++) {
		const struct entry *e = &h->entry[i % HISTORY_LEN];

		if (e->from >= l->naccounts || e->to >= l->naccounts || e->cents <= 0) {
			fprintf(stderr, "ledger: entry %" PRIu64 " of the history is damaged\n", i);
			return -1;
		}
	}
	if (moves != 2 * h->length || balance != opening) {
		fprintf(stderr, "ledger: the books do not balance\n");
		return -1;
	}
	return 0;
}
