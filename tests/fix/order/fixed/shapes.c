/* Places where a transaction is not simply put around two statements. In each function, what is marked must be in one transaction. */
#include <libpmemobj.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>

struct thing {
	uint64_t a, b, list[8], n;
	unsigned low : 4, high : 4;
	char text[32];
	struct thing *next;
};

int one_line(PMEMobjpool *pop, struct thing *t, int c);
int one_line(PMEMobjpool *pop, struct thing *t, int c)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (c) {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 2; /* TX */
		}
		else {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 3; /* TX */
		}
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
	return c;
}

uint64_t used_after(PMEMobjpool *pop, struct thing *t);
uint64_t used_after(PMEMobjpool *pop, struct thing *t)
{
	uint64_t volatile result = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		uint64_t old = t->b;
		const uint64_t fixed = t->n;
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = old + 2; /* TX */
		pmemobj_persist(pop, t, sizeof *t);
		result = old + fixed;
	} TX_ONABORT {
		abort();
	} TX_END
	return result;
}

int leaves_loop(PMEMobjpool *pop, struct thing *t);
int leaves_loop(PMEMobjpool *pop, struct thing *t)
{
	int found = -1;

	TX_BEGIN(pop) {
		for (int i = 0; i < 8; i++) {
			if (t->list[i])
				continue;
			pmemobj_tx_add_range_direct(&t->list[i], sizeof(t->list[i]));
			t->list[i] = 7; /* TX */
			if (i == 5)
				break;
			pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
			t->n++; /* TX */
		}
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
	return found;
}

int goes_to(PMEMobjpool *pop, struct thing *t);
int goes_to(PMEMobjpool *pop, struct thing *t)
{
	int result = -1;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (t->n)
			goto out;
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
		result = 0;
	out:
		pmemobj_persist(pop, t, sizeof *t);
	} TX_ONABORT {
		abort();
	} TX_END
	return result;
}

struct thing *returns(PMEMobjpool *pop, struct thing *t);
struct thing *returns(PMEMobjpool *pop, struct thing *t)
{
	struct thing *volatile result = 0;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		for (int i = 0; i < 8; i++)
			if (t->list[i] == 3)
				{ result = t->next; is_returning = 1; goto tx_done; }
		if (!t->next)
			{ result = NULL; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	pmemobj_persist(pop, t, sizeof *t);
	return t;
}

void nothing(PMEMobjpool *pop, struct thing *t, const char *text);
void nothing(PMEMobjpool *pop, struct thing *t, const char *text)
{
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->list[t->n], sizeof(t->list[t->n]));
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->list[t->n++] = 5; /* TX */
		if (t->n == 8)
			{ is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		t->high = 3; /* TX */
		pmemobj_tx_add_range_direct(t->text, strlen(text) + 1);
		strcpy(t->text, text); /* TX */
		pmemobj_tx_add_range_direct(t->list, sizeof t->list);
		memset(t->list, 0, sizeof t->list); /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return;
	pmemobj_persist(pop, t, sizeof *t);
}

void twice(struct thing *t);
void twice(struct thing *t)
{
	TX_BEGIN(pmemobj_pool_by_ptr(&t->a)) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a++; /* TX */
		t->a++; /* TX */
		t = t->next;
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a++; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

void switches(PMEMobjpool *pop, struct thing *t, int which);
void switches(PMEMobjpool *pop, struct thing *t, int which)
{
	TX_BEGIN(pop) {
		switch (which) {
		case 1:
			pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
			t->a = 1; /* TX */
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 1; /* TX */
			break;
		case 2:
			pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
			t->a = 2;
			break;
		default:
			break;
		}
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void extends(PMEMobjpool *pop, struct thing *t);
void extends(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = 0; /* TX */
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
		if (t) {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 2; /* TX */
		}
	} TX_ONABORT {
		t = NULL;
	} TX_END
}

void forgets(PMEMobjpool *pop, struct thing *t);
void forgets(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
		if (t->n) {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 2; /* FORGOTTEN */
		}
	} TX_END
}

static jmp_buf g_env;

void jumps(PMEMobjpool *pop, struct thing *t);
void jumps(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: may jump out */
	if (!pop)
		longjmp(g_env, 1);
	t->b = 2; /* TX */
}

static struct thing *next_of(struct thing *t)
{
	return memchr(t, 1, 8) ? t->next : NULL;
}

void calls(PMEMobjpool *pop, struct thing *t);
void calls(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: cannot be evaluated before */
	next_of(t)->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

static int construct(PMEMobjpool *pop, void *p, void *arg)
{
	(void)arg;
	pmemobj_memset_persist(pop, p, 0, 8);
	return 0;
}

int makes(PMEMobjpool *pop, struct thing *t, PMEMoid *oid);
int makes(PMEMobjpool *pop, struct thing *t, PMEMoid *oid)
{
	t->a = 1; /* TX, left: has no transactional form */
	if (pmemobj_alloc(pop, oid, 64, 1, construct, NULL))
		return -1;
	t->b = 2; /* TX */
	return 0;
}
