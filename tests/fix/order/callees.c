/* Functions that a transaction calls: those that nobody else calls log themselves, others get a copy that does, and what cannot be copied logs when
 * a transaction is open. */
#include <libpmemobj.h>
#include <stdint.h>

struct node {
	uint64_t value, n;
	PMEMoid next;
};

struct top {
	uint64_t count, sum;
	PMEMoid head;
};

_Noreturn void callees_die(const char *why);
int callees_push(PMEMobjpool *pop, struct top *t, uint64_t value);
int callees_drop(PMEMobjpool *pop, struct top *t);
int callees_walk(PMEMobjpool *pop, struct top *t, unsigned depth);
void callees_sum(PMEMobjpool *pop, struct top *t, uint64_t value);
void (*callees_hook(void))(struct top *t);
void callees_old(PMEMobjpool *pop, struct top *t);

/* only transactions call these */

static PMEMoid make(PMEMobjpool *pop, struct top *t, uint64_t value)
{
	PMEMoid oid;
	struct node *n;

	if (pmemobj_zalloc(pop, &oid, sizeof *n, 1))
		return OID_NULL;
	n = pmemobj_direct(oid);
	n->value = value;
	n->next = t->head;
	pmemobj_persist(pop, n, sizeof *n);
	return oid;
}

static void set(PMEMobjpool *pop, uint64_t *p, uint64_t value)
{
	*p = value;
	pmemobj_persist(pop, p, sizeof *p);
}

int callees_push(PMEMobjpool *pop, struct top *t, uint64_t value)
{
	PMEMoid oid = make(pop, t, value);

	if (OID_IS_NULL(oid))
		return -1;
	t->head = oid;
	pmemobj_persist(pop, &t->head, sizeof t->head);
	set(pop, &t->count, t->count + 1);
	return 0;
}

/* others call it, too */

static void unlink_first(PMEMobjpool *pop, struct top *t)
{
	struct node *n = pmemobj_direct(t->head);
	PMEMoid next = n->next;

	pmemobj_free(&t->head);
	t->head = next;
	pmemobj_persist(pop, &t->head, sizeof t->head);
}

int callees_drop(PMEMobjpool *pop, struct top *t)
{
	if (t->count == 0) {
		unlink_first(pop, t);
		return -1;
	}
	unlink_first(pop, t);
	set(pop, &t->count, t->count - 1);
	return 0;
}

/* cannot be copied: it calls itself, and the hook is called by nobody knows whom */

static void walk(PMEMobjpool *pop, struct top *t, unsigned depth)
{
	t->sum += depth;
	pmemobj_persist(pop, &t->sum, sizeof t->sum);
	if (depth > 0)
		walk(pop, t, depth - 1);
}

int callees_walk(PMEMobjpool *pop, struct top *t, unsigned depth)
{
	if (depth > 100)
		walk(pop, t, 100);
	walk(pop, t, depth);
	t->count = 0;
	pmemobj_persist(pop, &t->count, sizeof t->count);
	return 0;
}

static void hook(struct top *t)
{
	t->sum = 0;
}

void (*callees_hook(void))(struct top *t)
{
	return hook;
}

void callees_sum(PMEMobjpool *pop, struct top *t, uint64_t value)
{
	uint64_t seen = 0;

	set(pop, &seen, value);
	hook(t);
	set(pop, &t->count, value);
	pmemobj_persist(pop, &t->sum, sizeof t->sum);
}

/* called in a transaction that the program has, here and there; what that does on an abort, others do, too */

static void bump(struct top *t)
{
	t->sum++;
}

void callees_old(PMEMobjpool *pop, struct top *t)
{
	TX_BEGIN(pop) {
		if (t->count == 0)
			bump(t);
		TX_ADD_DIRECT(&t->count);
		t->count++;
		bump(t);
	} TX_ONABORT {
		callees_die("aborted");
	} TX_END
}
