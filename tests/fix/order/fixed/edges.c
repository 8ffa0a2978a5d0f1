/* Where a transaction begins and ends: jumps, returns, declarations that are used behind it, cases. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "thing.h"

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
	return c;
}

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
		result = old + fixed;
	} TX_ONABORT {
		abort();
	} TX_END
	return result;
}

int leaves_loop(PMEMobjpool *pop, struct thing *t)
{
	int found = -1;

	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(t->list, sizeof(t->list));
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		for (int i = 0; i < 8; i++) {
			if (t->list[i])
				continue;
			t->list[i] = 7; /* TX */
			if (i == 5)
				break;
			t->n++; /* TX */
		}
	} TX_ONABORT {
		abort();
	} TX_END
	return found;
}

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
	return t;
}

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
}

static jmp_buf g_env;

void jumps(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX, left: may jump out */
	if (!pop)
		longjmp(g_env, 1);
	t->b = 2; /* TX */
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
		result = next->a + strlen(buf);
	} TX_ONABORT {
		abort();
	} TX_END
	return result;
}

TOID_DECLARE(struct thing, 7);

TOID(struct thing) gives_handle(PMEMobjpool *pop, TOID(struct thing) t)
{
	TOID(struct thing) result;
	volatile int is_returning = 0;

	TX_BEGIN(pop) {
		TX_ADD_FIELD(t, a);
		D_RW(t)->a = 1; /* TX */
		if (D_RO(t)->n)
			{ result = TOID_NULL(struct thing); is_returning = 1; goto tx_done; }
		TX_ADD_FIELD(t, b);
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

/* ---- conditional compilation ---- */

void begins_under_condition(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		uint64_t n = t->n;

#ifndef NO_A
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = n; /* TX */
#endif
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 3; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void ends_under_condition(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
#ifdef NO_A
		t->b = 3;
#elif 1
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
#endif
		pmemobj_tx_add_range_direct(&t->n, sizeof(t->n));
		t->n = 7;
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void holds_condition(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		pmemobj_tx_add_range_direct(&t->a, sizeof(t->a));
		t->a = 1; /* TX */
#ifdef NO_A
		t->n = 3;
#endif
		pmemobj_tx_add_range_direct(&t->b, sizeof(t->b));
		t->b = 2; /* TX */
	} TX_ONABORT {
		abort();
	} TX_END
	pmemobj_persist(pop, t, sizeof *t);
}

void only_under_condition(PMEMobjpool *pop, struct thing *t)
{
#ifndef NO_A
	t->a = 1; /* TX, left: compiled only under a condition */
#endif
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}
