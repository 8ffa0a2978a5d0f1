/* A sorted, doubly linked list on libpmemobj.
 *
 * Inserting and removing are transactions that log the links and the length. A value is overwritten without one: it is
 * a single word, stored and persisted. The sentinel before the first node is allocated when the pool is created, by
 * the atomic interface.
 *
 * Invariants: (1) keys ascend. (2) A node's prev is the one before it. (3) The length is right. (4) Every node that is
 * allocated is in the list. */
#include "obj.h"

#define SIGNATURE 0x3154534c444e4550u

POBJ_LAYOUT_BEGIN(list);
POBJ_LAYOUT_ROOT(list, struct root);
POBJ_LAYOUT_TOID(list, struct node);
POBJ_LAYOUT_END(list);

struct node {
	uint64_t key, value;
	TOID(struct node) next, prev;
};

struct root {
	uint64_t signature;
	uint64_t length;
	TOID(struct node) sentinel;
};

struct store {
	PMEMobjpool *pop;
	TOID(struct root) root;
};

/* ---- reading ---- */

static const char *list_walk(struct store *s, struct census *c)
{
	TOID(struct node) node = D_RO(s->root)->sentinel, next;
	const char *why = census_meet(c, node.oid, s->root.oid);
	uint64_t length = 0;

	if (!why && !TOID_IS_NULL(D_RO(node)->prev))
		why = "something is before the sentinel";
	while (!why && !TOID_IS_NULL(D_RO(node)->next)) {
		next = D_RO(node)->next;
		why = census_meet(c, next.oid, s->root.oid);
		if (!why && !TOID_EQUALS(D_RO(next)->prev, node))
			why = "a node's prev is not the one before it";
		if (!why && length > 0 && D_RO(next)->key <= D_RO(node)->key)
			why = "the keys do not ascend";
		length++;
		node = next;
	}
	if (!why && length != D_RO(s->root)->length)
		why = "the length is wrong";
	return why ? why : census_end(c);
}

static const char *list_check(struct store *s)
{
	struct census c;
	const char *why;

	census_take(&c, s->pop, TOID_TYPE_NUM(struct node));
	why = list_walk(s, &c);
	census_release(&c);
	return why;
}

static void list_each(struct store *s, visit_fn *visit, void *arg)
{
	TOID(struct node) node = D_RO(D_RO(s->root)->sentinel)->next;

	for (; !TOID_IS_NULL(node); node = D_RO(node)->next)
		visit(D_RO(node)->key, D_RO(node)->value, arg);
}

/* The last node before the key's place: the sentinel, or one with a smaller key. */
static TOID(struct node) list_find(struct store *s, uint64_t key)
{
	TOID(struct node) node = D_RO(s->root)->sentinel, next = D_RO(node)->next;

	while (!TOID_IS_NULL(next) && D_RO(next)->key < key) {
		node = next;
		next = D_RO(node)->next;
	}
	return node;
}

static TOID(struct node) list_found(TOID(struct node) before, uint64_t key)
{
	TOID(struct node) node = D_RO(before)->next;

	return !TOID_IS_NULL(node) && D_RO(node)->key == key ? node : TOID_NULL(struct node);
}

static bool list_get(struct store *s, uint64_t key, uint64_t *value)
{
	TOID(struct node) node = list_found(list_find(s, key), key);

	if (TOID_IS_NULL(node))
		return false;
	*value = D_RO(node)->value;
	return true;
}

/* ---- writing ---- */

static void list_insert(struct store *s, TOID(struct node) before, uint64_t key, uint64_t value)
{
	TOID(struct node) after = D_RO(before)->next, new;

	TX_BEGIN(s->pop)
	{
		new = TX_NEW(struct node);
		D_RW(new)->key = key;
		D_RW(new)->value = value;
		D_RW(new)->prev = before;
		D_RW(new)->next = after;
		ADD(1, TX_ADD_FIELD(before, next));
		D_RW(before)->next = new;
		if (!TOID_IS_NULL(after)) {
			ADD(2, TX_ADD_FIELD(after, prev));
			D_RW(after)->prev = new;
		}
		ADD(3, TX_ADD_FIELD(s->root, length));
		D_RW(s->root)->length++;
	}
	TX_ONABORT
	{
		die("a transaction was aborted");
	}
	TX_END
}

static void list_put(struct store *s, uint64_t key, uint64_t value)
{
	TOID(struct node) before = list_find(s, key), node = list_found(before, key);
	PMEMobjpool *pop = s->pop;

	if (TOID_IS_NULL(node)) {
		list_insert(s, before, key, value);
		return;
	}
	D_RW(node)->value = value;
	PERSIST(4, 5, &D_RW(node)->value, sizeof(uint64_t));
}

static bool list_del(struct store *s, uint64_t key)
{
	TOID(struct node) before = list_find(s, key), node = list_found(before, key), after;

	if (TOID_IS_NULL(node))
		return false;
	after = D_RO(node)->next;
	TX_BEGIN(s->pop)
	{
		ADD(6, TX_ADD_FIELD(before, next));
		D_RW(before)->next = after;
		if (!TOID_IS_NULL(after)) {
			ADD(7, TX_ADD_FIELD(after, prev));
			D_RW(after)->prev = before;
		}
		TX_FREE(node);
		ADD(8, TX_ADD_FIELD(s->root, length));
		D_RW(s->root)->length--;
	}
	TX_ONABORT
	{
		die("a transaction was aborted");
	}
	TX_END
	return true;
}

/* ---- creation ---- */

static int sentinel_construct(PMEMobjpool *pop, void *addr, void *arg)
{
	struct node *node = addr;

	(void)arg;
	memset(node, 0, sizeof *node);
	PERSIST(9, 10, node, sizeof *node);
	return 0;
}

/* Goes on where it was interrupted: without the signature nobody looks at the rest. */
static void list_create(struct store *s)
{
	PMEMobjpool *pop = s->pop;
	struct root *root = D_RW(s->root);

	if (TOID_IS_NULL(root->sentinel) && POBJ_NEW(pop, &root->sentinel, struct node, sentinel_construct, NULL) != 0)
		die(pmemobj_errormsg());
	root->signature = SIGNATURE;
	PERSIST(11, 12, &root->signature, sizeof root->signature);
}

static void list_close(struct store *s)
{
	pmemobj_close(s->pop);
	free(s);
}

static struct store *list_open(const char *path, bool may_write, const char **why)
{
	PMEMobjpool *pop = obj_open(path, POBJ_LAYOUT_NAME(list), SIGNATURE, may_write, why);
	struct store *s;

	if (!pop)
		return NULL;
	s = need(calloc(1, sizeof *s));
	s->pop = pop;
	if (pmemobj_root_size(pop) == 0 && !may_write)
		goto none;
	s->root = POBJ_ROOT(pop, struct root);
	if (D_RO(s->root)->signature == 0 && !may_write)
		goto none;
	if (D_RO(s->root)->signature == 0)
		list_create(s);
	*why = D_RO(s->root)->signature == SIGNATURE ? list_check(s) : "the signature is wrong";
	if (!*why)
		return s;
none:
	list_close(s);
	return NULL;
}

const struct structure structure = {
	.open = list_open,
	.close = list_close,
	.put = list_put,
	.del = list_del,
	.get = list_get,
	.check = list_check,
	.each = list_each,
};
