/* Typed handles. This file logs a field by TX_ADD_FIELD, and a whole object by TX_ADD where it changes more than one field. */
#include <libpmemobj.h>
#include <string.h>

POBJ_LAYOUT_BEGIN(typed);
POBJ_LAYOUT_ROOT(typed, struct list);
POBJ_LAYOUT_TOID(typed, struct node);
POBJ_LAYOUT_END(typed);

struct node {
	TOID(struct node) next, prev;
	uint64_t key, value, hits;
	char name[16];
};

struct list {
	TOID(struct node) head, tail;
	TOID(struct node) slots[8];
	uint64_t count, version;
};

int list_push(PMEMobjpool *pop, TOID(struct list) list, uint64_t key, uint64_t value)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TOID(struct node) n = TX_NEW(struct node);

		D_RW(n)->key = key;
		D_RW(n)->value = value;
		D_RW(n)->next = D_RO(list)->head;
		TX_ADD_FIELD(list, head);
		D_RW(list)->head = n;
		D_RW(list)->count++; /* BUG: tx-missing-add */ /* BUG: missing-flush */
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

int list_update(PMEMobjpool *pop, TOID(struct node) n, uint64_t key, uint64_t value)
{
	int ret = 0;

	TX_BEGIN(pop) {
		TX_ADD(n);
		D_RW(n)->key = key;
		D_RW(n)->value = value;
	} TX_ONABORT {
		ret = -1;
	} TX_END

	return ret;
}

/* two fields of one object, in one branch */
void list_move(PMEMobjpool *pop, TOID(struct list) list, TOID(struct node) a, TOID(struct node) b)
{
	TX_BEGIN(pop) {
		D_RW(a)->next = b; /* BUG: tx-missing-add */
		if (TOID_IS_NULL(D_RO(a)->prev))
			D_RW(list)->head = a; /* BUG: tx-missing-add */
		D_RW(a)->prev = D_RO(b)->prev; /* BUG: tx-missing-add */
		D_RW(D_RW(list)->tail)->next = a; /* BUG: tx-missing-add */
	} TX_END
}

/* logged too late */
void list_rename(PMEMobjpool *pop, TOID(struct node) n, uint64_t key)
{
	TX_BEGIN(pop) {
		if (key)
			D_RW(n)->key = key; /* BUG: tx-missing-add */
		D_RW(n)->value = 0; /* BUG: tx-missing-add */
		TX_ADD(n);
		D_RW(n)->hits = 0;
	} TX_END
}

void list_rename_field(PMEMobjpool *pop, TOID(struct node) n, uint64_t key)
{
	TX_BEGIN(pop) {
		D_RW(n)->key = key; /* BUG: tx-missing-add */
		if (key == 7) {
			TX_ADD_FIELD(n, value);
			D_RW(n)->value = 1;
		}
		TX_ADD_FIELD(n, key);
		D_RW(n)->key++;
	} TX_END
}

/* the handle is another one by then: it stays */
void list_next(PMEMobjpool *pop, TOID(struct node) n)
{
	TX_BEGIN(pop) {
		D_RW(n)->hits++; /* BUG: tx-missing-add */
		n = D_RO(n)->next;
		TX_ADD_FIELD(n, hits);
		D_RW(n)->hits++;
	} TX_END
}

/* an element, a string; a loop that changes one field again and again */
void list_fill(PMEMobjpool *pop, TOID(struct list) list, TOID(struct node) n, const char *name)
{
	TX_BEGIN(pop) {
		for (size_t i = 0; i < 8; i++)
			D_RW(list)->slots[i] = n; /* BUG: tx-missing-add */
		for (size_t i = 0; name[i]; i++) {
			D_RW(list)->version += 1; /* BUG: tx-missing-add */
			if (i == 8)
				break;
		}
		strcpy(D_RW(n)->name, name); /* BUG: tx-missing-add */
	} TX_END
}

/* only transactions call it */
static void node_touch(TOID(struct node) n)
{
	D_RW(n)->hits++;
}

void list_touch(PMEMobjpool *pop, TOID(struct list) list)
{
	TX_BEGIN(pop) {
		node_touch(D_RO(list)->head); /* BUG: tx-missing-add in node_touch */
	} TX_END
}

void list_touch_last(PMEMobjpool *pop, TOID(struct list) list)
{
	TX_BEGIN(pop) {
		node_touch(D_RO(list)->tail); /* BUG: tx-missing-add in node_touch */
	} TX_END
}

/* no finding of transactions, but the store is in one all the same */
void list_count(PMEMobjpool *pop, TOID(struct list) list)
{
	TX_BEGIN(pop) {
		D_RW(list)->count = 0; /* BUG: missing-flush-fence */
	} TX_ONCOMMIT {
		D_RW(list)->version = 1; /* BUG: missing-flush-fence */
	} TX_END
}
