/* A B+-tree on libpmemobj; every operation is one transaction. Values are in the leaves, which are linked in order.
 *
 * Entry i of an inner node is a child and a key that is not larger than any in it and larger than any before it; the
 * key of entry 0 is not looked at. A node that overflows is split; one that falls below MIN borrows an entry from a
 * neighbour, or is merged with it. Each field is logged once in a transaction, before it is first changed; fields of a
 * new node are not logged.
 *
 * Invariants: (1) all leaves are equally deep. (2) Nodes other than the root have MIN to MAX entries; an inner root
 * has two or more. (3) Keys ascend and lie between those of the entries above. (4) The leaves' links lead through all
 * of them in order. (5) The count is right. (6) Every node that is allocated is in the tree. */
#include "obj.h"

#define SIGNATURE 0x31525442444e4550u
enum { MAX = 4, MIN = 2, DEPTH_MAX = 16 };

POBJ_LAYOUT_BEGIN(btree);
POBJ_LAYOUT_ROOT(btree, struct root);
POBJ_LAYOUT_TOID(btree, struct node);
POBJ_LAYOUT_END(btree);

struct node {
	uint64_t is_leaf, n;
	uint64_t key[MAX];
	uint64_t value[MAX];          /* of a leaf */
	TOID(struct node) child[MAX]; /* of an inner node */
	TOID(struct node) next;       /* of a leaf */
};

struct root {
	uint64_t signature;
	uint64_t count;
	TOID(struct node) tree;
};

struct entry {
	uint64_t key, value;
	TOID(struct node) child;
};

struct store {
	PMEMobjpool *pop;
	TOID(struct root) root;
};

/* ---- reading ---- */

struct walk {
	struct store *store;
	struct census census;
	TOID(struct node) last_leaf;
	uint64_t count;
	unsigned depth; /* of the leaves */
};

static const char *walk_leaf(struct walk *w, TOID(struct node) leaf, unsigned depth)
{
	if (w->count == 0)
		w->depth = depth;
	else if (!TOID_EQUALS(D_RO(w->last_leaf)->next, leaf))
		return "the link from leaf to leaf is wrong";
	if (depth != w->depth)
		return "the leaves are not equally deep";
	w->last_leaf = leaf;
	w->count += D_RO(leaf)->n;
	return NULL;
}

/* Keys of the node are from low on and, unless it is 0, below high. */
static const char *walk_node(struct walk *w, TOID(struct node) node, uint64_t low, uint64_t high, unsigned depth)
{
	const char *why = census_meet(&w->census, node.oid, w->store->root.oid);
	const struct node *n;
	uint64_t at_least = depth > 0 ? MIN : 1;

	if (why)
		return why;
	n = D_RO(node);
	if (!n->is_leaf && depth == 0)
		at_least = 2;
	if (n->n < at_least || n->n > MAX || depth > DEPTH_MAX)
		return "a node has too few or too many entries, or is too deep";
	for (uint64_t i = n->is_leaf ? 0 : 1; i < n->n; i++)
		if (n->key[i] < low || (high && n->key[i] >= high) ||
		    (i > (n->is_leaf ? 0 : 1) && n->key[i] <= n->key[i - 1]))
			return "the keys are not in order";
	if (n->is_leaf)
		return walk_leaf(w, node, depth);
	for (uint64_t i = 0; !why && i < n->n; i++)
		why = walk_node(w, n->child[i], i ? n->key[i] : low, i + 1 < n->n ? n->key[i + 1] : high, depth + 1);
	return why;
}

static const char *btree_check(struct store *s)
{
	struct walk w = { .store = s };
	const char *why = NULL;

	census_take(&w.census, s->pop, TOID_TYPE_NUM(struct node));
	if (!TOID_IS_NULL(D_RO(s->root)->tree)) {
		why = walk_node(&w, D_RO(s->root)->tree, 0, 0, 0);
		if (!why && !TOID_IS_NULL(D_RO(w.last_leaf)->next))
			why = "the last leaf leads on";
	}
	if (!why && w.count != D_RO(s->root)->count)
		why = "the count is wrong";
	if (!why)
		why = census_end(&w.census);
	census_release(&w.census);
	return why;
}

/* The last entry whose key is not larger; an inner node's entry 0 counts as that. */
static uint64_t node_find(const struct node *n, uint64_t key)
{
	uint64_t i = n->n - 1;

	while (i > 0 && n->key[i] > key)
		i--;
	return i;
}

static TOID(struct node) leaf_find(struct store *s, uint64_t key)
{
	TOID(struct node) node = D_RO(s->root)->tree;

	while (!TOID_IS_NULL(node) && !D_RO(node)->is_leaf)
		node = D_RO(node)->child[node_find(D_RO(node), key)];
	return node;
}

static void btree_each(struct store *s, visit_fn *visit, void *arg)
{
	TOID(struct node) leaf = leaf_find(s, 0);

	for (; !TOID_IS_NULL(leaf); leaf = D_RO(leaf)->next)
		for (uint64_t i = 0; i < D_RO(leaf)->n; i++)
			visit(D_RO(leaf)->key[i], D_RO(leaf)->value[i], arg);
}

/* Where the value is; NULL if the key is not there. */
static uint64_t *value_find(struct store *s, uint64_t key)
{
	TOID(struct node) leaf = leaf_find(s, key);
	uint64_t i;

	if (TOID_IS_NULL(leaf))
		return NULL;
	i = node_find(D_RO(leaf), key);
	return D_RO(leaf)->key[i] == key ? &D_RW(leaf)->value[i] : NULL;
}

static bool btree_get(struct store *s, uint64_t key, uint64_t *value)
{
	const uint64_t *found = value_find(s, key);

	if (found)
		*value = *found;
	return found != NULL;
}

/* ---- entries of a node; the caller has logged it ---- */

static struct entry entry_get(const struct node *n, uint64_t i)
{
	return (struct entry){ n->key[i], n->value[i], n->child[i] };
}

static void entry_set(struct node *n, uint64_t i, struct entry e)
{
	n->key[i] = e.key;
	if (n->is_leaf)
		n->value[i] = e.value;
	else
		n->child[i] = e.child;
}

static void entry_insert(struct node *n, uint64_t at, struct entry e)
{
	for (uint64_t i = n->n++; i > at; i--)
		entry_set(n, i, entry_get(n, i - 1));
	entry_set(n, at, e);
}

static void entries_append(struct node *n, const struct node *from, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++)
		entry_set(n, n->n++, entry_get(from, i));
}

/* ---- inserting ---- */

static TOID(struct node) node_split(TOID(struct node) node)
{
	TOID(struct node) right = TX_ZNEW(struct node);
	struct node *l = D_RW(node), *r = D_RW(right);

	ADD(1, TX_ADD(node));
	r->is_leaf = l->is_leaf;
	entries_append(r, l, MAX / 2, MAX);
	l->n = MAX / 2;
	r->next = l->next;
	if (l->is_leaf)
		l->next = right;
	return right;
}

/* Gives the new right neighbour if the node had to be split. */
static TOID(struct node) node_add(TOID(struct node) node, uint64_t at, struct entry e)
{
	TOID(struct node) right = TOID_NULL(struct node);

	if (D_RO(node)->n == MAX) {
		right = node_split(node);
		if (at > MAX / 2)
			entry_insert(D_RW(right), at - MAX / 2, e);
		else
			entry_insert(D_RW(node), at, e);
		return right;
	}
	ADD(2, TX_ADD_FIELD(node, n));
	ADD(3, TX_ADD_FIELD(node, key));
	if (D_RO(node)->is_leaf)
		ADD(4, TX_ADD_FIELD(node, value));
	else
		ADD(5, TX_ADD_FIELD(node, child));
	entry_insert(D_RW(node), at, e);
	return right;
}

static TOID(struct node) tree_insert(TOID(struct node) node, uint64_t key, uint64_t value)
{
	uint64_t i = node_find(D_RO(node), key);
	TOID(struct node) right;

	if (D_RO(node)->is_leaf)
		return node_add(node, D_RO(node)->key[i] > key ? i : i + 1,
				(struct entry){ key, value, TOID_NULL(struct node) });
	right = tree_insert(D_RO(node)->child[i], key, value);
	if (TOID_IS_NULL(right))
		return right;
	return node_add(node, i + 1, (struct entry){ D_RO(right)->key[0], 0, right });
}

/* A new node with one or two entries becomes the root. */
static void root_grow(struct store *s, bool is_leaf, struct entry first, const struct entry *second)
{
	TOID(struct node) top = TX_ZNEW(struct node);

	D_RW(top)->is_leaf = is_leaf;
	entry_insert(D_RW(top), 0, first);
	if (second)
		entry_insert(D_RW(top), 1, *second);
	ADD(6, TX_ADD_FIELD(s->root, tree));
	D_RW(s->root)->tree = top;
}

static void btree_insert(struct store *s, uint64_t key, uint64_t value)
{
	TOID(struct node) tree = D_RO(s->root)->tree, right;
	struct entry second;

	if (TOID_IS_NULL(tree)) {
		root_grow(s, true, (struct entry){ key, value, tree }, NULL);
	} else {
		right = tree_insert(tree, key, value);
		if (!TOID_IS_NULL(right)) {
			second = (struct entry){ D_RO(right)->key[0], 0, right };
			root_grow(s, false, (struct entry){ D_RO(tree)->key[0], 0, tree }, &second);
		}
	}
	ADD(7, TX_ADD_FIELD(s->root, count));
	D_RW(s->root)->count++;
}

static void btree_put(struct store *s, uint64_t key, uint64_t value)
{
	uint64_t *found = value_find(s, key);

	TX_BEGIN(s->pop)
	{
		if (found) {
			ADD(8, TX_ADD_DIRECT(found));
			*found = value;
		} else {
			btree_insert(s, key, value);
		}
	}
	TX_ONABORT
	{
		die("a transaction was aborted");
	}
	TX_END
}

/* ---- deleting ---- */

static void node_remove(TOID(struct node) node, uint64_t at)
{
	struct node *n = D_RW(node);

	ADD(9, TX_ADD_FIELD(node, n));
	ADD(10, TX_ADD_FIELD(node, key));
	if (n->is_leaf)
		ADD(11, TX_ADD_FIELD(node, value));
	else
		ADD(12, TX_ADD_FIELD(node, child));
	for (uint64_t i = at + 1; i < n->n; i++)
		entry_set(n, i - 1, entry_get(n, i));
	n->n--;
}

/* Child i, which has lost an entry and is logged therefore, takes the last one of its left neighbour. */
static void borrow_left(TOID(struct node) parent, uint64_t i)
{
	struct node *p = D_RW(parent), *l = D_RW(p->child[i - 1]), *c = D_RW(p->child[i]);

	if (!c->is_leaf)
		c->key[0] = p->key[i];
	entry_insert(c, 0, entry_get(l, l->n - 1));
	ADD(13, TX_ADD_DIRECT(&l->n));
	l->n--;
	ADD(14, TX_ADD_DIRECT(&p->key[i]));
	p->key[i] = c->key[0];
}

/* Child 0 takes the first entry of its right neighbour. */
static void borrow_right(TOID(struct node) parent)
{
	struct node *p = D_RW(parent), *c = D_RW(p->child[0]), *r = D_RW(p->child[1]);
	struct entry e = entry_get(r, 0);

	if (!c->is_leaf)
		e.key = p->key[1];
	entry_insert(c, c->n, e);
	node_remove(p->child[1], 0);
	ADD(15, TX_ADD_DIRECT(&p->key[1]));
	p->key[1] = r->key[0];
}

/* Child i goes; its entries go to its left neighbour, whose arrays and number of entries the caller has logged. */
static void merge(TOID(struct node) parent, uint64_t i)
{
	struct node *p = D_RW(parent), *l = D_RW(p->child[i - 1]);
	const struct node *gone = D_RO(p->child[i]);
	uint64_t first = l->n;

	entries_append(l, gone, 0, gone->n);
	if (!l->is_leaf)
		l->key[first] = p->key[i];
	l->next = gone->next;
	TX_FREE(p->child[i]);
	node_remove(parent, i);
}

/* Child i of the parent has fewer than MIN entries. */
static void rebalance(TOID(struct node) parent, uint64_t i)
{
	TOID(struct node) left = D_RO(parent)->child[i > 0 ? i - 1 : 0];

	if (i > 0 && D_RO(left)->n > MIN) {
		borrow_left(parent, i);
	} else if (i > 0) {
		ADD(16, TX_ADD(left));
		merge(parent, i);
	} else if (D_RO(D_RO(parent)->child[1])->n > MIN) {
		borrow_right(parent);
	} else {
		ADD(17, TX_ADD_FIELD(left, next));
		merge(parent, 1);
	}
}

static void tree_remove(TOID(struct node) node, uint64_t key)
{
	uint64_t i = node_find(D_RO(node), key);

	if (D_RO(node)->is_leaf) {
		node_remove(node, i);
		return;
	}
	tree_remove(D_RO(node)->child[i], key);
	if (D_RO(D_RO(node)->child[i])->n < MIN)
		rebalance(node, i);
}

/* The key is there. */
static void btree_remove(struct store *s, uint64_t key)
{
	TOID(struct node) tree = D_RO(s->root)->tree;

	tree_remove(tree, key);
	if (D_RO(tree)->n < (D_RO(tree)->is_leaf ? 1 : 2)) {
		ADD(18, TX_ADD_FIELD(s->root, tree));
		D_RW(s->root)->tree = D_RO(tree)->is_leaf ? TOID_NULL(struct node) : D_RO(tree)->child[0];
		TX_FREE(tree);
	}
	ADD(19, TX_ADD_FIELD(s->root, count));
	D_RW(s->root)->count--;
}

static bool btree_del(struct store *s, uint64_t key)
{
	if (!value_find(s, key))
		return false;
	TX_BEGIN(s->pop)
	{
		btree_remove(s, key);
	}
	TX_ONABORT
	{
		die("a transaction was aborted");
	}
	TX_END
	return true;
}

/* ---- creation ---- */

static void btree_close(struct store *s)
{
	pmemobj_close(s->pop);
	free(s);
}

static struct store *btree_open(const char *path, bool may_write, const char **why)
{
	PMEMobjpool *pop = obj_open(path, POBJ_LAYOUT_NAME(btree), SIGNATURE, may_write, why);
	struct store *s;

	if (!pop)
		return NULL;
	s = need(calloc(1, sizeof *s));
	s->pop = pop;
	if (pmemobj_root_size(pop) == 0 && !may_write)
		goto none;
	s->root = POBJ_ROOT(pop, struct root); /* zeros: an empty tree */
	if (D_RO(s->root)->signature == 0) {
		if (!may_write)
			goto none;
		D_RW(s->root)->signature = SIGNATURE;
		PERSIST(20, 21, &D_RW(s->root)->signature, sizeof(uint64_t));
	}
	*why = D_RO(s->root)->signature == SIGNATURE ? btree_check(s) : "the signature is wrong";
	if (!*why)
		return s;
none:
	btree_close(s);
	return NULL;
}

const struct structure structure = {
	.open = btree_open,
	.close = btree_close,
	.put = btree_put,
	.del = btree_del,
	.get = btree_get,
	.check = btree_check,
	.each = btree_each,
};
