/* A sorted map. What is put is kept in DRAM until it is committed, all at
 * once, to the leaves on persistent memory. */
#ifndef STORE_H
#define STORE_H

#include <libpmemobj.h>

#include "node.h"

#define MEM_NODES 4
#define LOGGED_MAX (2 * MEM_NODES * NODE_MAX)

POBJ_LAYOUT_BEGIN(memtable);
POBJ_LAYOUT_ROOT(memtable, struct root);
POBJ_LAYOUT_TOID(memtable, struct leaf);
POBJ_LAYOUT_END(memtable);

struct leaf {
	struct node node;
	TOID(struct leaf) next;
};

struct root {
	TOID(struct leaf) head;
	uint64_t nkeys;
	uint64_t commits;
	struct cursor cursor; /* what the reader need not see again */
};

struct store {
	PMEMobjpool *pop;
	TOID(struct root) root;
	/* leaves that this transaction logged or made */
	TOID(struct leaf) logged[LOGGED_MAX];
	unsigned nlogged;
	/* what is not committed yet; sorted, too, and used from the front */
	struct node mem[MEM_NODES];
	unsigned nmem;
};

int store_open(struct store *s, const char *path);
void store_close(struct store *s);

int store_put(struct store *s, uint64_t key, uint64_t val);
int store_del(struct store *s, uint64_t key);
int store_commit(struct store *s);
/* Prints up to max pairs behind the cursor. Returns the last key. */
uint64_t store_scan(struct store *s, unsigned max);
/* The reader has seen everything up to the key. */
void store_seen(struct store *s, uint64_t key);
/* Verifies and prints what is durable. Returns 0 if it is right. */
int store_check(struct store *s);

#endif
