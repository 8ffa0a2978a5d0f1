/* A radix tree on libpmem: keys of 12 bits, four of them at a time. Links are offsets; an odd one leads to a leaf.
 *
 *	0	magic
 *	64	root: a link
 *	128	bitmap: which blocks are used
 *	4096	blocks of 128 bytes, each a node (16 links) or a leaf (key, value, checksum)
 *
 * Every change is one link: what is new is built aside and durable before the link leads to it; a leaf that is
 * overwritten is replaced; a node that would be left with a single leaf is replaced by it, with all nodes above that
 * lead only there. Blocks that went out of use are freed afterwards. A crash may leave the bitmap wrong; recovery
 * computes it.
 *
 * Invariants: (1) every link leads to a block of its own; a leaf's checksum is right and its key is the way that led
 * there. (2) A node has two links or more, or one to a node. (3) After recovery the used blocks are those that are
 * met. */
#include <libpmem.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "raw.h"

#define PM_FLUSH(addr, len_bytes) pmem_flush(addr, len_bytes)
#define PM_DRAIN() pmem_drain()
#define PM_PERSIST(addr, len_bytes) pmem_persist(addr, len_bytes)
#define PM_COPY(to, from, len_bytes) pmem_memcpy_nodrain(to, from, len_bytes)
#include "mutant.h"

#define MAGIC 0x31445852444e4550u
enum { BLOCKS_AT = 4096, BLOCK_BYTES = 128, NBLOCKS = 256, POOL_BYTES = BLOCKS_AT + NBLOCKS * BLOCK_BYTES };
enum { BITS = 4, FANOUT = 1 << BITS, DEPTH = 3 };

struct head {
	uint64_t magic;
	_Alignas(LINE_BYTES) uint64_t root;
	_Alignas(LINE_BYTES) uint64_t bitmap[NBLOCKS / 64];
};

struct node {
	uint64_t link[FANOUT];
};

struct leaf {
	uint64_t key, value, sum;
};
_Static_assert(sizeof(struct node) == BLOCK_BYTES && sizeof(struct leaf) <= BLOCK_BYTES, "either is a block");

struct store {
	char *base;
	struct head *head;
	uint64_t met[NBLOCKS / 64]; /* like the bitmap, by walking */
};

static bool is_leaf(uint64_t link)
{
	return link & 1;
}

static struct node *node_at(struct store *s, uint64_t link)
{
	return (struct node *)(s->base + link);
}

static struct leaf *leaf_at(struct store *s, uint64_t link)
{
	return (struct leaf *)(s->base + (link & ~(uint64_t)1));
}

static unsigned digit(uint64_t key, unsigned depth)
{
	return key >> BITS * (DEPTH - 1 - depth) & (FANOUT - 1);
}

static uint64_t leaf_sum(const struct leaf *l)
{
	return checksum(l, offsetof(struct leaf, sum), MAGIC);
}

/* ---- reading: trusts nothing ---- */

static const char *block_meet(struct store *s, uint64_t link)
{
	uint64_t at = link & ~(uint64_t)1, block = (at - BLOCKS_AT) / BLOCK_BYTES;

	if (at < BLOCKS_AT || at >= POOL_BYTES || (at - BLOCKS_AT) % BLOCK_BYTES != 0)
		return "a link leads to no block";
	if (s->met[block / 64] >> block % 64 & 1)
		return "a block is met twice";
	s->met[block / 64] |= (uint64_t)1 << block % 64;
	return NULL;
}

static const char *leaf_check(struct store *s, uint64_t link, uint64_t way, unsigned depth)
{
	const struct leaf *l = leaf_at(s, link);

	if (l->sum != leaf_sum(l))
		return "the checksum of a leaf is wrong";
	if (l->key >> BITS * (DEPTH - depth) != way)
		return "a leaf's key is not the way to it";
	return NULL;
}

static const char *tree_walk(struct store *s, uint64_t link, uint64_t way, unsigned depth)
{
	unsigned nlinks = 0, nleaves = 0;
	const char *why;

	if (link == 0)
		return NULL;
	why = block_meet(s, link);
	if (why || is_leaf(link))
		return why ? why : leaf_check(s, link, way, depth);
	if (depth == DEPTH)
		return "the tree is too deep";
	for (unsigned i = 0; !why && i < FANOUT; i++) {
		uint64_t down = node_at(s, link)->link[i];

		nlinks += down != 0;
		nleaves += is_leaf(down);
		why = tree_walk(s, down, way << BITS | i, depth + 1);
	}
	if (!why && (nlinks == 0 || (nlinks == 1 && nleaves == 1)))
		why = "a node is superfluous";
	return why;
}

static const char *radix_walk(struct store *s)
{
	memset(s->met, 0, sizeof s->met);
	return tree_walk(s, s->head->root, 0, 0);
}

static const char *radix_check(struct store *s)
{
	const char *why = radix_walk(s);

	if (!why && memcmp(s->met, s->head->bitmap, sizeof s->met) != 0)
		why = "the bitmap of used blocks is wrong";
	return why;
}

static void tree_each(struct store *s, uint64_t link, visit_fn *visit, void *arg)
{
	if (is_leaf(link))
		visit(leaf_at(s, link)->key, leaf_at(s, link)->value, arg);
	else if (link != 0)
		for (unsigned i = 0; i < FANOUT; i++)
			tree_each(s, node_at(s, link)->link[i], visit, arg);
}

static void radix_each(struct store *s, visit_fn *visit, void *arg)
{
	tree_each(s, s->head->root, visit, arg);
}

/* The way down to a key: slots[depth] is the word that leads to a leaf, or to nothing. */
struct way {
	uint64_t *slots[DEPTH + 1];
	unsigned depth;
	bool is_found;
};

static struct way radix_find(struct store *s, uint64_t key)
{
	struct way w = { .slots = { &s->head->root } };

	while (*w.slots[w.depth] != 0 && !is_leaf(*w.slots[w.depth])) {
		struct node *n = node_at(s, *w.slots[w.depth]);

		w.slots[w.depth + 1] = &n->link[digit(key, w.depth)];
		w.depth++;
	}
	w.is_found = *w.slots[w.depth] != 0 && leaf_at(s, *w.slots[w.depth])->key == key;
	return w;
}

static bool radix_get(struct store *s, uint64_t key, uint64_t *value)
{
	struct way w = radix_find(s, key);

	if (w.is_found)
		*value = leaf_at(s, *w.slots[w.depth])->value;
	return w.is_found;
}

/* ---- blocks: the caller fences ---- */

static uint64_t block_new(struct store *s)
{
	uint64_t *bitmap = s->head->bitmap;
	unsigned block = 0;

	while (block < NBLOCKS && bitmap[block / 64] >> block % 64 & 1)
		block++;
	if (block == NBLOCKS)
		die("the pool is full");
	bitmap[block / 64] |= (uint64_t)1 << block % 64;
	FLUSH(1, &bitmap[block / 64], sizeof bitmap[0]);
	return BLOCKS_AT + block * BLOCK_BYTES;
}

static void block_free(struct store *s, uint64_t link)
{
	uint64_t block = (link - BLOCKS_AT) / BLOCK_BYTES, *word = &s->head->bitmap[block / 64];

	*word &= ~((uint64_t)1 << block % 64);
	FLUSH(2, word, sizeof *word);
}

static uint64_t leaf_new(struct store *s, uint64_t key, uint64_t value)
{
	struct leaf l = { key, value, 0 };
	uint64_t at = block_new(s);

	l.sum = leaf_sum(&l);
	COPY(3, s->base + at, &l, sizeof l);
	return at | 1;
}

/* ---- writing ---- */

/* A leaf is in the way: nodes as long as the keys agree, the last with both leaves. */
static void radix_split(struct store *s, uint64_t *slot, unsigned depth, uint64_t key, uint64_t value)
{
	uint64_t other = leaf_at(s, *slot)->key, new_leaf = leaf_new(s, key, value), down;
	unsigned last = depth;
	struct node n;

	while (digit(key, last) == digit(other, last))
		last++;
	n = (struct node){ .link = { 0 } };
	n.link[digit(key, last)] = new_leaf;
	n.link[digit(other, last)] = *slot;
	for (;;) {
		down = block_new(s);
		COPY(4, node_at(s, down), &n, sizeof n);
		if (last == depth)
			break;
		last--;
		n = (struct node){ .link = { 0 } };
		n.link[digit(key, last)] = down;
	}
	FENCE(5);
	store64(slot, down);
	PERSIST(6, 7, slot, sizeof *slot);
}

static void radix_put(struct store *s, uint64_t key, uint64_t value)
{
	struct way w = radix_find(s, key);
	uint64_t *slot = w.slots[w.depth], old = *slot, new;

	if (old != 0 && !w.is_found) {
		radix_split(s, slot, w.depth, key, value);
		return;
	}
	new = leaf_new(s, key, value);
	FENCE(8);
	store64(slot, new);
	PERSIST(9, 10, slot, sizeof *slot);
	if (old != 0) {
		block_free(s, old);
		FENCE(11);
	}
}

/* The only link in the node besides one; 0 if there are more, or none. */
static uint64_t only_other(const struct node *n, const uint64_t *except)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < FANOUT; i++) {
		if (n->link[i] == 0 || &n->link[i] == except)
			continue;
		if (found != 0)
			return 0;
		found = n->link[i];
	}
	return found;
}

/* The leaf goes, and with it nodes that would lead only to one other leaf, which takes their place. */
static void radix_collapse(struct store *s, const struct way *w, uint64_t remaining)
{
	uint64_t gone[DEPTH + 1] = { *w->slots[w->depth] };
	unsigned ngone = 1, top = w->depth - 1;

	gone[ngone++] = *w->slots[top];
	while (top > 0 && only_other(node_at(s, *w->slots[top - 1]), NULL) != 0)
		gone[ngone++] = *w->slots[--top];
	store64(w->slots[top], remaining);
	PERSIST(12, 13, w->slots[top], sizeof *w->slots[top]);
	while (ngone > 0)
		block_free(s, gone[--ngone]);
	FENCE(14);
}

static bool radix_del(struct store *s, uint64_t key)
{
	struct way w = radix_find(s, key);
	uint64_t *slot = w.slots[w.depth], old = *slot, remaining;

	if (!w.is_found)
		return false;
	remaining = w.depth > 0 ? only_other(node_at(s, *w.slots[w.depth - 1]), slot) : 0;
	if (is_leaf(remaining)) {
		radix_collapse(s, &w, remaining);
		return true;
	}
	store64(slot, 0);
	PERSIST(15, 16, slot, sizeof *slot);
	block_free(s, old);
	FENCE(17);
	return true;
}

/* ---- creation, recovery ---- */

static void radix_create(struct store *s)
{
	s->head->root = 0;
	FLUSH(18, &s->head->root, sizeof s->head->root);
	memset(s->head->bitmap, 0, sizeof s->head->bitmap);
	FLUSH(19, s->head->bitmap, sizeof s->head->bitmap);
	FENCE(20);
	store64(&s->head->magic, MAGIC);
	PERSIST(21, 22, &s->head->magic, sizeof s->head->magic);
}

static const char *radix_recover(struct store *s)
{
	const char *why = radix_walk(s);

	if (!why && memcmp(s->met, s->head->bitmap, sizeof s->met) != 0) {
		COPY(23, s->head->bitmap, s->met, sizeof s->met);
		FENCE(24);
	}
	return why;
}

static void radix_close(struct store *s)
{
	pmem_unmap(s->base, POOL_BYTES);
	free(s);
}

static struct store *radix_open(const char *path, bool may_write, const char **why)
{
	enum pool_state state = pool_state(path, MAGIC, POOL_BYTES, why);
	struct store *s;
	size_t mapped_bytes;
	int is_pmem;

	if (state == POOL_DAMAGED || (state == POOL_NONE && !may_write))
		return NULL;
	s = need(calloc(1, sizeof *s));
	s->base = pmem_map_file(path, POOL_BYTES, PMEM_FILE_CREATE, 0666, &mapped_bytes, &is_pmem);
	if (!s->base || mapped_bytes != POOL_BYTES)
		die("cannot map the pool");
	s->head = (struct head *)s->base; /* is_pmem is not asked: on a file system without DAX this is for testing only */
	if (s->head->magic == 0 && may_write)
		radix_create(s);
	if (s->head->magic == MAGIC)
		*why = radix_recover(s);
	else if (s->head->magic != 0)
		*why = "the magic word is wrong";
	if (s->head->magic == MAGIC && !*why)
		return s;
	radix_close(s);
	return NULL;
}

const struct structure structure = {
	.open = radix_open,
	.close = radix_close,
	.put = radix_put,
	.del = radix_del,
	.get = radix_get,
	.check = radix_check,
	.each = radix_each,
};
