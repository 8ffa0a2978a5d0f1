#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store.h"

int store_open(struct store *s, const char *path)
{
	memset(s, 0, sizeof(*s));
	if (access(path, F_OK) != 0)
		s->pop = pmemobj_create(path, POBJ_LAYOUT_NAME(memtable), PMEMOBJ_MIN_POOL, 0666);
	else
		s->pop = pmemobj_open(path, POBJ_LAYOUT_NAME(memtable));
	if (!s->pop)
		return -1;
	s->root = POBJ_ROOT(s->pop, struct root);
	s->nmem = 1;
	return 0;
}

void store_close(struct store *s)
{
	pmemobj_close(s->pop);
}

/* The leaf to which the key belongs. */
static TOID(struct leaf) leaf_find(struct store *s, uint64_t key)
{
	TOID(struct leaf) leaf = D_RO(s->root)->head;

	while (!TOID_IS_NULL(leaf)) {
		TOID(struct leaf) next = D_RO(leaf)->next;

		if (TOID_IS_NULL(next) || key < D_RO(next)->node.keys[0])
			break;
		leaf = next;
	}
	return leaf;
}

/* Once a transaction is enough. */
static void leaf_log(struct store *s, TOID(struct leaf) leaf)
{
	for (unsigned i = 0; i < s->nlogged; i++)
		if (TOID_EQUALS(leaf, s->logged[i]))
			return;
	TX_ADD(leaf);
	s->logged[s->nlogged++] = leaf;
}

static TOID(struct leaf) leaf_new(struct store *s)
{
	TOID(struct leaf) leaf = TX_ZNEW(struct leaf);

	s->logged[s->nlogged++] = leaf;
	return leaf;
}

static TOID(struct leaf) leaf_split(struct store *s, TOID(struct leaf) leaf)
{
	TOID(struct leaf) upper = leaf_new(s);

	leaf_log(s, leaf);
	node_split(&D_RW(leaf)->node, &D_RW(upper)->node);
	D_RW(upper)->next = D_RO(leaf)->next;
	D_RW(leaf)->next = upper;
	return upper;
}

/* Part of a transaction. Returns whether the key is new. */
static bool leaf_put(struct store *s, uint64_t key, uint64_t val)
{
	TOID(struct leaf) leaf = leaf_find(s, key);

	if (TOID_IS_NULL(leaf)) {
		leaf = leaf_new(s);
		TX_ADD_FIELD(s->root, head);
		D_RW(s->root)->head = leaf;
	} else if (node_full(&D_RO(leaf)->node) && !node_has(&D_RO(leaf)->node, key)) {
		TOID(struct leaf) upper = leaf_split(s, leaf);

		if (key >= D_RO(upper)->node.keys[0])
			leaf = upper;
	} else {
		leaf_log(s, leaf);
	}
	return node_put(&D_RW(leaf)->node, key, val);
}

int store_commit(struct store *s)
{
	uint64_t added = 0;
	int ret = 0;

	if (s->mem[0].n == 0)
		return 0;
	s->nlogged = 0;
	TX_BEGIN(s->pop) {
		for (unsigned i = 0; i < s->nmem; i++)
			for (unsigned k = 0; k < s->mem[i].n; k++)
				added += leaf_put(s, s->mem[i].keys[k], s->mem[i].vals[k]);
		TX_ADD_FIELD(s->root, nkeys);
		TX_ADD_FIELD(s->root, commits);
		D_RW(s->root)->nkeys += added;
		D_RW(s->root)->commits++;
	} TX_ONCOMMIT {
		memset(s->mem, 0, sizeof(s->mem));
		s->nmem = 1;
	} TX_ONABORT {
		fprintf(stderr, "commit: %s\n", pmemobj_errormsg());
		ret = -1;
	} TX_END
	return ret;
}

static struct node *mem_find(struct store *s, uint64_t key)
{
	unsigned i = s->nmem - 1;

	while (i > 0 && key < s->mem[i].keys[0])
		i--;
	return &s->mem[i];
}

int store_put(struct store *s, uint64_t key, uint64_t val)
{
	struct node *node = mem_find(s, key);

	if (node_full(node) && !node_has(node, key)) {
		if (s->nmem == MEM_NODES) {
			if (store_commit(s) != 0)
				return -1;
			node = mem_find(s, key);
		} else {
			memmove(node + 2, node + 1, (char *)&s->mem[s->nmem] - (char *)(node + 1));
			s->nmem++;
			memset(node + 1, 0, sizeof(*node));
			node_split(node, node + 1);
			node = mem_find(s, key);
		}
	}
	node_put(node, key, val);
	return 0;
}

/* Deletes at once. Leaves do not get empty. */
int store_del(struct store *s, uint64_t key)
{
	TOID(struct leaf) leaf;
	int ret = 0;

	if (store_commit(s) != 0)
		return -1;
	leaf = leaf_find(s, key);
	if (TOID_IS_NULL(leaf) || !node_has(&D_RO(leaf)->node, key))
		return -1;
	if (D_RO(leaf)->node.n == 1) {
		fprintf(stderr, "%llu: the last of its leaf stays\n", (unsigned long long)key);
		return -1;
	}
	TX_BEGIN(s->pop) {
		TX_ADD_FIELD(leaf, node);
		node_del(&D_RW(leaf)->node, key);
		TX_ADD_FIELD(s->root, nkeys);
		D_RW(s->root)->nkeys--;
	} TX_ONABORT {
		fprintf(stderr, "del: %s\n", pmemobj_errormsg());
		ret = -1;
	} TX_END
	return ret;
}

uint64_t store_scan(struct store *s, unsigned max)
{
	struct cursor cursor = D_RO(s->root)->cursor;
	TOID(struct leaf) leaf = leaf_find(s, cursor.key);

	for (; !TOID_IS_NULL(leaf); leaf = D_RO(leaf)->next) {
		const struct node *node = &D_RO(leaf)->node;

		for (unsigned i = 0; i < node->n && max > 0; i++) {
			if (node->keys[i] <= cursor.key)
				continue;
			printf("%llu = %llu\n", (unsigned long long)node->keys[i], (unsigned long long)node->vals[i]);
			cursor_advance(&cursor, node->keys[i]);
			max--;
		}
	}
	return cursor.key;
}

void store_seen(struct store *s, uint64_t key)
{
	struct cursor *cursor = &D_RW(s->root)->cursor;

	if (key <= cursor->key)
		return;
	cursor_advance(cursor, key);
	pmemobj_persist(s->pop, cursor, sizeof(*cursor));
}

int store_check(struct store *s)
{
	const struct root *root = D_RO(s->root);
	TOID(struct leaf) leaf = root->head;
	uint64_t nkeys = 0, last = 0;

	for (; !TOID_IS_NULL(leaf); leaf = D_RO(leaf)->next) {
		const struct node *node = &D_RO(leaf)->node;

		if (node->n == 0 || node->n > NODE_MAX) {
			fprintf(stderr, "a leaf has %llu keys\n", (unsigned long long)node->n);
			return -1;
		}
		for (unsigned i = 0; i < node->n; i++, nkeys++) {
			/* the values of this program are ten times their keys, and a version below ten */
			if (node->keys[i] <= last || node->vals[i] / 10 != node->keys[i]) {
				fprintf(stderr, "key %llu is wrong\n", (unsigned long long)node->keys[i]);
				return -1;
			}
			last = node->keys[i];
			printf("%llu = %llu\n", (unsigned long long)last, (unsigned long long)node->vals[i]);
		}
	}
	printf("%llu keys, %llu commits, seen up to %llu\n", (unsigned long long)root->nkeys,
	       (unsigned long long)root->commits, (unsigned long long)root->cursor.key);
	if (nkeys != root->nkeys) {
		fprintf(stderr, "%llu keys, but %llu are counted\n", (unsigned long long)nkeys, (unsigned long long)root->nkeys);
		return -1;
	}
	return 0;
}
