/* Places where a transaction is not simply put around two statements. In each function, what is marked must be in one transaction. */
#include <errno.h>
#include <libpmemobj.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

TOID_DECLARE(struct thing, 7);

#define FIELD(t) (t)->a

/* ---- statements ---- */

void loop_header(PMEMobjpool *pop, struct thing *t)
{
	for (t->a = 0; t->a < 3; t->a++) /* TX, left: part of a condition */
		t->list[t->a] = 1; /* TX */
	t->b = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void conditional(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		if ((t->a = t->n)) /* TX */ {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 1; /* TX */
		}
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void chooses(PMEMobjpool *pop, struct thing *t, int c)
{
	c ? (t->a = 1) : (t->b = 2); /* TX, left: part of a condition */
	t->n = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void chooses_place(PMEMobjpool *pop, struct thing *t, struct thing *u, int c)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&(c ? t : u)->a, sizeof((c ? t : u)->a));
		(c ? t : u)->a = 1; /* TX */
		pmemobj_tx_add_range_direct((c ? &t->b : &u->b), sizeof(*(c ? &t->b : &u->b)));
		*(c ? &t->b : &u->b) = 3; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void commas(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->a = 1, t->b = 2; /* TX */
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		pmemobj_tx_add_range_direct(&t->list[0], sizeof(t->list[0]));
		t->n = t->list[0] = 3; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

uint64_t initialises(PMEMobjpool *pop, struct thing *t)
{
	uint64_t old;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		old = t->n++; /* TX */

		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = old; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
	return old;
}

int retry(PMEMobjpool *pop, struct thing *t)
{
	int n = 0;
	TX_BEGIN(pop) {
	again:
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a++; /* TX */
		if (n++ < 3)
			goto again;
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b++; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
	return n;
}

void falls_through(PMEMobjpool *pop, struct thing *t, int which)
{
	TX_BEGIN(pop) {
		switch (which) {
		case 0:
			pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
			t->a = 1; /* TX */
			/* fallthrough */
		case 1:
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 1; /* TX */
			break;
		}
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void steps(PMEMobjpool *pop, struct thing *t, int i)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->list[i], sizeof(t->list[i]));
		t->list[i++] = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->list[i], sizeof(t->list[i]));
		t->list[i] = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void prestep(PMEMobjpool *pop, struct thing *t, int i)
{
	t->a = 1; /* TX, left: cannot be evaluated before */
	t->list[++i] = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void whole_things(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		*t = (struct thing){ .a = 1 }; /* TX */
		pmemobj_tx_add_range_direct((uint64_t *)((char *)t + 8), sizeof(*(uint64_t *)((char *)t + 8)));
		*(uint64_t *)((char *)t + 8) = 1; /* TX */
		pmemobj_tx_add_range_direct(&((struct thing *)t->next)->a, sizeof(((struct thing *)t->next)->a));
		((struct thing *)t->next)->a = 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void elseif(PMEMobjpool *pop, struct thing *t, int c, int d)
{
	TX_BEGIN(pop) {
		if (c) { pmemobj_tx_add_range_direct(&t->a, sizeof(t->a)); t->a = 1; } /* TX */
		else if (d) {
			pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
			t->b = 2; /* TX */
		}
		else {
			pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
			t->n = 3;
		}
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		t->high = 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

uint64_t keeps_buffer(PMEMobjpool *pop, struct thing *t)
{
	uint64_t volatile result = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		char buf[8] = "abc";
		struct thing *next = t->next;
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
		pmemobj_persist(pop, t, sizeof *t);
		result = next->a + strlen(buf);
	} TX_ONABORT {
		abort();
	} TX_END
	return result;
}

TOID(struct thing) gives_handle(PMEMobjpool *pop, TOID(struct thing) t)
{
	TOID(struct thing) result;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&D_RW(t)->a, sizeof(D_RW(t)->a));
		D_RW(t)->a = 1; /* TX */
		if (D_RO(t)->n)
			{ result = TOID_NULL(struct thing); is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&D_RW(t)->b, sizeof(D_RW(t)->b));
		D_RW(t)->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	return t;
}

const char *
gnu_style(PMEMobjpool *pop, struct thing *t)
{
	const char *volatile result = 0;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (t->n)
			{ result = "n"; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	return NULL;
}

int in_one_line(PMEMobjpool *pop, struct thing *t)
{
	if (t->n) { 
		int volatile result = 0;
		volatile int is_returning = 0;

		TX_BEGIN(pop) {
			pmemobj_tx_add_range_direct(&t->a, sizeof(t->a)); t->a = 1; if (t->b) { result = 7; is_returning = 1; goto tx_done; } pmemobj_tx_add_range_direct(&t->b, sizeof(t->b)); t->b = 2;
		tx_done:;
		} TX_ONABORT {
			abort();
		} TX_END
		if (is_returning)
			return result;
	 } /* TX */
	(void)pop;
	return 1;
}

int two_of_them(PMEMobjpool *pop, struct thing *t)
{
	int volatile result = 0;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (t->b)
			{ result = 7; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	puts("x");
	int volatile result2 = 0;
	volatile int is_returning2 = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = 1; /* TX2 */
		if (t->low)
			{ result2 = 8; is_returning2 = 1; goto tx_done2; }
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		t->high = 1; /* TX2 */
	tx_done2:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning2)
		return result2;
	puts("y");
	(void)pop;
	return 1;
}

int in_a_case(PMEMobjpool *pop, struct thing *t, int which)
{
	switch (which) {
	case -1:
		return -1;
	case 1:
		puts("x");
		TX_BEGIN(pop) {
			pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
			t->n = 1; /* TX */
			pmemobj_tx_add_range_direct(t, sizeof(*t));
			t->high = 1; /* TX */
		} TX_ONABORT {
			abort();
		} TX_END
		break;
	case 2:
		t->low = 1;
	}
	(void)pop;
	return 1;
}

void strings(PMEMobjpool *pop, struct thing *t)
{
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (strchr("one \
two", 'x'))
			{ is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return;
	(void)pop;
}

void nested(PMEMobjpool *pop, struct thing *t, int c)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (c) {
			TX_BEGIN(pop) {
				TX_ADD_DIRECT(&t->n);
				t->n = 1; /* LOGGED */
			} TX_END
		}
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
}

int evident_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return -1;
	volatile int is_aborted = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -1;
	pmemobj_persist(pop, t, sizeof *t);
	return 0;
}

bool no_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return false;
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
	return true;
}

int error_numbers(PMEMobjpool *pop, struct thing *t, int which)
{
	if (which)
		return -EINVAL;
	volatile int is_aborted = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = 1; /* TX */
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		t->high = 1; /* TX */
	} TX_ONABORT {
		is_aborted = 1;
	} TX_END
	if (is_aborted)
		return -errno;
	pmemobj_persist(pop, t, sizeof *t);
	return 1;
}

int cleans_up(PMEMobjpool *pop, struct thing *t, int which)
{
	char *p = malloc(8);

	if (!p)
		return -1;
	p = realloc(p, 80);
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = 1; /* TX */
		pmemobj_tx_add_range_direct(t, sizeof(*t));
		t->high = 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
	free(p);
	return which;
}

void fills(PMEMobjpool *pop, struct thing *t, uint64_t n)
{
	TX_BEGIN(pop) {
		for (uint64_t i = 0; i < n; i++) {
			pmemobj_tx_add_range_direct(&t->list[i], sizeof(t->list[i]));
			t->list[i] = i; /* TX */
		}
		pmemobj_tx_add_range_direct(t->text, 4);
		memcpy(t->text, "abc", 4); /* TX */
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = n; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void uses_macro(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&FIELD(t), sizeof(FIELD(t)));
		FIELD(t) = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b += 1; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

/* ---- with a flush and a fence for another store ---- */

void durable_too(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		pmemobj_persist(pop, &t->a, sizeof t->a);
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = 7; /* FLUSH */
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, &t->b, sizeof t->b);
}

void durable_beside(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	t->n = 7; /* FLUSH */
	pmemobj_persist(pop, &t->n, sizeof t->n);
	pmemobj_persist(pop, &t->b, sizeof t->b);
}

/* ---- allocation ---- */

struct node {
	uint64_t v;
	PMEMoid next;
	struct node *raw;
};

struct top {
	uint64_t n;
	PMEMoid head, all[4];
};

int allocates(PMEMobjpool *pop, struct top *t)
{
	PMEMoid oid;
	struct node *p;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		oid = pmemobj_tx_alloc(sizeof(struct node), 1);
		p = pmemobj_direct(oid);
		p->v = 1; /* SEEN */
		pmemobj_tx_add_range_direct(&p->raw->v, sizeof(p->raw->v));
		p->raw->v = 2; /* SEEN */
		pmemobj_tx_add_range_direct(&t->head, sizeof(t->head));
		t->head = oid; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	return 0;
}

int allocates_perhaps(PMEMobjpool *pop, struct top *t, int c)
{
	PMEMoid oid = t->head;
	struct node *p;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		if (c)
			oid = pmemobj_tx_alloc(sizeof(struct node), 1);
		p = pmemobj_direct(oid);
		pmemobj_tx_add_range_direct(&p->v, sizeof(p->v));
		p->v = 1; /* SEEN */
		pmemobj_tx_add_range_direct(&t->head, sizeof(t->head));
		t->head = oid; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	return 0;
}

int allocates_checked(PMEMobjpool *pop, struct top *t)
{
	int volatile result = 0;
	volatile int is_returning = 0;
	PMEMoid allocated;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		pmemobj_tx_add_range_direct(&t->head, sizeof(t->head));
		int ret = (allocated = pmemobj_tx_xalloc(64, 1, POBJ_XALLOC_ZERO | POBJ_XALLOC_NO_ABORT), OID_IS_NULL(allocated) ? -1 : (t->head = allocated, 0));
		if (ret)
			{ result = ret; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->all[0], sizeof(t->all[0]));
		t->all[0] = t->head; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	return 0;
}

int releases(PMEMobjpool *pop, struct top *t, PMEMoid *oidp)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n++; /* TX */
		if (pmemobj_pool_by_ptr(oidp))
			pmemobj_tx_add_range_direct(oidp, sizeof((*oidp)));
		pmemobj_tx_free((*oidp)), (*oidp) = OID_NULL;
		pmemobj_tx_add_range_direct(&t->all[1], sizeof(t->all[1]));
		pmemobj_tx_free(t->all[1]), t->all[1] = OID_NULL;
		for (int i = 0; i < 4; i++) {
			pmemobj_tx_add_range_direct(&t->all[i], sizeof(t->all[i]));
			pmemobj_tx_free(t->all[i]), t->all[i] = OID_NULL;
		}
		pmemobj_tx_add_range_direct(&t->all[0], sizeof(t->all[0]));
		t->all[0] = t->head; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	(void)pop;
	return 0;
}

int resizes(PMEMobjpool *pop, struct top *t)
{
	t->n++; /* TX, left: has no transactional form */
	if (pmemobj_realloc(pop, &t->head, 128, 1))
		return -1;
	t->all[0] = t->head; /* TX */
	return 0;
}

/* ---- others ---- */

uint64_t tells(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: tells others */
	uint64_t x = t->n, y = 2;
	t->b = x; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	printf("%d\n", (int)x);
	return x + y;
}

void warns(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (t->n > 8)
			fprintf(stderr, "too many\n");
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

int locks(PMEMobjpool *pop, struct thing *t, PMEMmutex *lock)
{
	if (!t->n)
		return -1;
	int volatile result = 0;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
		if (pmemobj_mutex_lock(pop, lock))
			{ result = -1; is_returning = 1; goto tx_done; }
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	tx_done:;
	} TX_ONABORT {
		abort();
	} TX_END
	if (is_returning)
		return result;
	pmemobj_mutex_unlock(pop, lock);
	pmemobj_persist(pop, t, sizeof *t);
	return 0;
}

void unlocks(PMEMobjpool *pop, struct thing *t, PMEMmutex *lock)
{
	pmemobj_mutex_lock(pop, lock);
	t->a = 1; /* TX, left: releases a lock */
	pmemobj_mutex_unlock(pop, lock);
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

struct shared {
	volatile uint64_t a;
	uint64_t b;
};

void is_volatile(PMEMobjpool *pop, struct shared *s)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct((void *)&s->a, sizeof(s->a));
		s->a = 1; /* TX */
		pmemobj_tx_add_range_direct(&s->b, sizeof(s->b));
		s->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, &s->b, sizeof s->b);
}
