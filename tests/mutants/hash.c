/* A hash table that grows and shrinks, without a library: mmap, and the processor's flushes and fences. Links are offsets.
 *
 *	0	magic
 *	64	table: the offset of the table in use, one of the two halves
 *	128	count
 *	192	is_clean
 *	4096	two halves, each a table: a header line, the buckets, from the next line on the nodes
 *
 * A new node is durable before a link leads to it, and the link is one word. A value is overwritten in place, being
 * one word. To resize, all nodes are copied to the other half; when it is durable, the word `table` is switched. The
 * count is stored after the link, so a crash may leave it wrong: is_clean says whether it can be trusted, and is
 * cleared durably before the first change.
 *
 * Invariants: (1) every chain's nodes lie inside the table, belong to the chain's bucket, and are met once; no key is
 * there twice. (2) The count is right after recovery. Nodes that are not met are free; that is computed when the pool
 * is opened. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "raw.h"

#define PM_FLUSH(addr, len_bytes) pm_flush(addr, len_bytes)
#define PM_DRAIN() pm_drain()
#include "mutant.h"

#define MAGIC 0x31534148444e4550u
enum { HALVES_AT = 4096, HALF_BYTES = 8192, POOL_BYTES = HALVES_AT + 2 * HALF_BYTES };
enum { BUCKETS_MIN = 4, BUCKETS_MAX = 128 };

struct head {
	uint64_t magic;
	_Alignas(LINE_BYTES) uint64_t table;
	_Alignas(LINE_BYTES) uint64_t count;
	_Alignas(LINE_BYTES) uint64_t is_clean;
};

struct node {
	uint64_t key, value, next, unused; /* two in a line */
};

struct table {
	_Alignas(LINE_BYTES) uint64_t nbuckets; /* there are as many nodes */
	_Alignas(LINE_BYTES) uint64_t bucket[];
};

struct store {
	char *base;
	struct head *head;
	struct table *table;
	struct node *nodes;
	uint32_t nused;
	bool is_used[BUCKETS_MAX];
};

static size_t buckets_bytes(uint64_t nbuckets)
{
	return (sizeof(struct table) + nbuckets * sizeof(uint64_t) + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
}
_Static_assert(sizeof(struct table) + BUCKETS_MAX * (sizeof(uint64_t) + sizeof(struct node)) <= HALF_BYTES,
	       "a table fits into a half");

static uint64_t bucket_of(uint64_t key, uint64_t nbuckets)
{
	return (key * 0x9e3779b97f4a7c15u >> 32) % nbuckets;
}

static struct node *node_at(struct store *s, uint64_t offset)
{
	return (struct node *)(s->base + offset);
}

static uint64_t offset_of(struct store *s, const void *addr)
{
	return (uint64_t)((const char *)addr - s->base);
}

/* ---- reading: trusts nothing ---- */

static const char *table_use(struct store *s)
{
	uint64_t at = s->head->table;

	if (at != HALVES_AT && at != HALVES_AT + HALF_BYTES)
		return "the table is neither half of the pool";
	s->table = (struct table *)(s->base + at);
	if (s->table->nbuckets < BUCKETS_MIN || s->table->nbuckets > BUCKETS_MAX ||
	    (s->table->nbuckets & (s->table->nbuckets - 1)) != 0)
		return "the number of buckets is wrong";
	s->nodes = (struct node *)((char *)s->table + buckets_bytes(s->table->nbuckets));
	return NULL;
}

static const char *chain_walk(struct store *s, uint64_t bucket)
{
	uint64_t first = offset_of(s, s->nodes), end = first + s->table->nbuckets * sizeof(struct node);

	for (uint64_t at = s->table->bucket[bucket]; at != 0; at = node_at(s, at)->next) {
		if (at < first || at >= end || (at - first) % sizeof(struct node) != 0)
			return "a link leads to no node";
		if (s->is_used[(at - first) / sizeof(struct node)])
			return "a node is met twice";
		if (bucket_of(node_at(s, at)->key, s->table->nbuckets) != bucket)
			return "a key is in the wrong bucket";
		for (uint64_t i = s->table->bucket[bucket]; i != at; i = node_at(s, i)->next)
			if (node_at(s, i)->key == node_at(s, at)->key)
				return "a key is there twice";
		s->is_used[(at - first) / sizeof(struct node)] = true;
		s->nused++;
	}
	return NULL;
}

/* Finds out which nodes are used. */
static const char *hash_walk(struct store *s)
{
	const char *why = table_use(s);

	memset(s->is_used, 0, sizeof s->is_used);
	s->nused = 0;
	for (uint64_t i = 0; !why && i < s->table->nbuckets; i++)
		why = chain_walk(s, i);
	return why;
}

static const char *hash_check(struct store *s)
{
	const char *why = hash_walk(s);

	if (!why && s->head->is_clean > 1)
		why = "is_clean is neither yes nor no";
	if (!why && s->head->count != s->nused)
		why = "the count is wrong";
	return why;
}

static void hash_each(struct store *s, visit_fn *visit, void *arg)
{
	for (uint64_t i = 0; i < s->table->nbuckets; i++)
		for (uint64_t at = s->table->bucket[i]; at != 0; at = node_at(s, at)->next)
			visit(node_at(s, at)->key, node_at(s, at)->value, arg);
}

/* The word that leads to the key's node, or that ends its chain. */
static uint64_t *hash_find(struct store *s, uint64_t key)
{
	uint64_t *link = &s->table->bucket[bucket_of(key, s->table->nbuckets)];

	while (*link != 0 && node_at(s, *link)->key != key)
		link = &node_at(s, *link)->next;
	return link;
}

static bool hash_get(struct store *s, uint64_t key, uint64_t *value)
{
	uint64_t at = *hash_find(s, key);

	if (at != 0)
		*value = node_at(s, at)->value;
	return at != 0;
}

/* ---- writing ---- */

static struct node *node_new(struct store *s)
{
	uint32_t i = 0;

	while (s->is_used[i])
		i++;
	s->is_used[i] = true;
	s->nused++;
	return &s->nodes[i];
}

static void node_free(struct store *s, const struct node *n)
{
	s->is_used[n - s->nodes] = false;
	s->nused--;
}

/* An empty table in a half that is not in use; not flushed yet. */
static struct table *table_new(struct store *s, uint64_t at, uint64_t nbuckets)
{
	struct table *t = (struct table *)(s->base + at);

	t->nbuckets = nbuckets;
	memset(t->bucket, 0, nbuckets * sizeof t->bucket[0]);
	return t;
}

static void hash_resize(struct store *s, uint64_t nbuckets)
{
	uint64_t at = s->head->table == HALVES_AT ? HALVES_AT + HALF_BYTES : HALVES_AT;
	struct table *t;
	struct node *nodes, *n;

	if (nbuckets < BUCKETS_MIN || nbuckets > BUCKETS_MAX)
		return;
	t = table_new(s, at, nbuckets);
	n = nodes = (struct node *)((char *)t + buckets_bytes(nbuckets));
	for (uint64_t i = 0; i < s->table->nbuckets; i++)
		for (uint64_t old = s->table->bucket[i]; old != 0; old = node_at(s, old)->next, n++) {
			uint64_t *link = &t->bucket[bucket_of(node_at(s, old)->key, nbuckets)];

			*n = (struct node){ node_at(s, old)->key, node_at(s, old)->value, *link, 0 };
			*link = offset_of(s, n);
		}
	FLUSH(1, t, sizeof *t + nbuckets * sizeof t->bucket[0]);
	FLUSH(2, nodes, (size_t)(n - nodes) * sizeof *n);
	FENCE(3);
	store64(&s->head->table, at);
	FLUSH(4, &s->head->table, sizeof s->head->table);
	FENCE(5); /* the other half will be written to when it is resized the next time */
	hash_walk(s);
}

static void hash_put(struct store *s, uint64_t key, uint64_t value)
{
	uint64_t *link = hash_find(s, key);
	struct node *n = node_at(s, *link);

	if (*link != 0) {
		store64(&n->value, value);
		FLUSH(6, &n->value, sizeof n->value);
		FENCE(7);
		return;
	}
	if (s->nused == s->table->nbuckets) {
		hash_resize(s, 2 * s->table->nbuckets);
		if (s->nused == s->table->nbuckets)
			die("the table is full");
		link = hash_find(s, key);
	}
	n = node_new(s);
	n->key = key;
	n->value = value;
	n->next = 0;
	FLUSH(8, n, sizeof *n);
	FENCE(9);
	store64(link, offset_of(s, n));
	FLUSH(10, link, sizeof *link);
	s->head->count++;
	FLUSH(11, &s->head->count, sizeof s->head->count);
	FENCE(12);
}

static bool hash_del(struct store *s, uint64_t key)
{
	uint64_t *link = hash_find(s, key);
	struct node *n = node_at(s, *link);

	if (*link == 0)
		return false;
	store64(link, n->next);
	FLUSH(13, link, sizeof *link);
	s->head->count--;
	FLUSH(14, &s->head->count, sizeof s->head->count);
	FENCE(15); /* before the node can be used again */
	node_free(s, n);
	if (s->nused <= s->table->nbuckets / 4)
		hash_resize(s, s->table->nbuckets / 2);
	return true;
}

/* ---- creation, recovery ---- */

static void hash_create(struct store *s)
{
	const struct table *t = table_new(s, HALVES_AT, BUCKETS_MIN);

	FLUSH(16, t, sizeof *t + BUCKETS_MIN * sizeof t->bucket[0]);
	s->head->table = HALVES_AT;
	FLUSH(17, &s->head->table, sizeof s->head->table);
	s->head->count = 0;
	s->head->is_clean = 1;
	FLUSH(18, &s->head->count, 2 * LINE_BYTES);
	FENCE(19);
	store64(&s->head->magic, MAGIC);
	FLUSH(20, &s->head->magic, sizeof s->head->magic);
	FENCE(21);
}

static const char *hash_recover(struct store *s)
{
	const char *why = hash_walk(s);

	if (!why && !s->head->is_clean && s->head->count != s->nused) {
		s->head->count = s->nused;
		FLUSH(22, &s->head->count, sizeof s->head->count);
		FENCE(23);
	}
	return why;
}

static void hash_close(struct store *s)
{
	munmap(s->base, POOL_BYTES);
	free(s);
}

/* After this, the count cannot be trusted until hash_finish(). */
static void hash_begin(struct store *s)
{
	store64(&s->head->is_clean, 0);
	FLUSH(24, &s->head->is_clean, sizeof s->head->is_clean);
	FENCE(25);
}

static void hash_finish(struct store *s)
{
	if (!s->head->is_clean) {
		store64(&s->head->is_clean, 1);
		FLUSH(26, &s->head->is_clean, sizeof s->head->is_clean);
		FENCE(27);
	}
	hash_close(s);
}

static struct store *hash_open(const char *path, bool may_write, const char **why)
{
	enum pool_state state = pool_state(path, MAGIC, POOL_BYTES, why);
	struct store *s;

	if (state == POOL_DAMAGED || (state == POOL_NONE && !may_write))
		return NULL;
	s = need(calloc(1, sizeof *s));
	s->base = pool_map(path, POOL_BYTES);
	s->head = (struct head *)s->base;
	if (s->head->magic == 0 && may_write)
		hash_create(s);
	if (s->head->magic == MAGIC)
		*why = hash_recover(s);
	else if (s->head->magic != 0)
		*why = "the magic word is wrong";
	if (s->head->magic == MAGIC && !*why) {
		if (may_write && s->head->is_clean)
			hash_begin(s);
		return s;
	}
	hash_close(s);
	return NULL;
}

const struct structure structure = {
	.open = hash_open,
	.close = hash_finish,
	.put = hash_put,
	.del = hash_del,
	.get = hash_get,
	.check = hash_check,
	.each = hash_each,
};
