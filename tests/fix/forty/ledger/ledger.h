/* ledger.h -- accounts, and a journal that keeps transfers whole */
#ifndef LEDGER_H
#define LEDGER_H

#include <stddef.h>
#include <stdint.h>

#define LEDGER_MAGIC 0x52454744454cull
#define LEDGER_ACCOUNTS 32
#define ACCOUNT_NAME 24
#define HISTORY_LEN 64

struct account {
	char name[ACCOUNT_NAME];
	int64_t balance;	/* cents */
	uint64_t moves;		/* transfers, in or out */
	int64_t limit;		/* how far below zero the balance may go */
	int64_t opening;	/* the first balance */
	uint64_t number;
};

/* A transfer in progress: what the accounts and the history will hold. */
struct journal {
	uint32_t from, to;
	int64_t cents;
	int64_t from_balance, to_balance;
	uint64_t from_moves, to_moves;
	uint64_t serial;
	uint64_t spare;
	uint64_t active;	/* 0, or all of the above is valid */
	uint64_t spare2[7];
};

struct history {
	uint64_t length;
	uint64_t spare[7];
	struct entry {
		uint32_t from, to;
		int64_t cents;
	} entry[HISTORY_LEN];
};

struct ledger {
	uint64_t magic;
	uint64_t naccounts;
	uint64_t spare[6];
	struct journal journal;
	struct history history;
	struct account account[LEDGER_ACCOUNTS];
};

/* store.c */
struct ledger *store_open(const char *path, int create, int *missing);
void store_close(struct ledger *l);

/* journal.c */
void journal_recover(struct ledger *l);
void journal_transfer(struct ledger *l, struct account *from, struct account *to, int64_t cents);

/* account.c */
struct account *account_find(struct ledger *l, const char *name);
int account_open(struct ledger *l, const char *name, int64_t cents);
int account_limit(struct ledger *l, const char *name, int64_t cents);
int account_move(struct ledger *l, const char *from, const char *to, int64_t cents);
int account_audit(const struct ledger *l);

#endif
