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

	if (OID_IS_NULL(oid = pmemobj_tx_xalloc(sizeof *n, 1, POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT)))
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
	int volatile result = 0;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		PMEMoid oid = make(pop, t, value);

		if (OID_IS_NULL(oid))
			{ result = -1; is_returning = 1; goto tx_done; }
		TX_ADD_DIRECT(&t->head);
		t->head = oid;
		TX_ADD_DIRECT(&t->count);
		set(pop, &t->count, t->count + 1);
	tx_done:;
	} TX_ONABORT {
		callees_die("aborted");
	} TX_END
	if (is_returning)
		return result;
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

static void unlink_first_tx(PMEMobjpool *pop, struct top *t)
{
	struct node *n = pmemobj_direct(t->head);
	PMEMoid next = n->next;

	TX_ADD_DIRECT(&t->head);
	pmemobj_tx_free(t->head), t->head = OID_NULL;
	t->head = next;
	pmemobj_persist(pop, &t->head, sizeof t->head);
}

int callees_drop(PMEMobjpool *pop, struct top *t)
{
	if (t->count == 0) {
		unlink_first(pop, t);
		return -1;
	}
	TX_BEGIN(pop) {
		unlink_first_tx(pop, t);
		TX_ADD_DIRECT(&t->count);
		set(pop, &t->count, t->count - 1);
	} TX_ONABORT {
		callees_die("aborted");
	} TX_END
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
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->sum);
		walk(pop, t, depth);
		TX_ADD_DIRECT(&t->count);
		t->count = 0;
	} TX_ONABORT {
		callees_die("aborted");
	} TX_END
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
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->sum);
		hook(t);
		TX_ADD_DIRECT(&t->count);
		set(pop, &t->count, value);
	} TX_ONABORT {
		callees_die("aborted");
	} TX_END
}

/* called in a transaction that the program has, here and there; what that does on an abort, others do, too */

static void bump(struct top *t)
{
	TX_ADD_DIRECT(&t->sum);
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
