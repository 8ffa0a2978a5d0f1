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
	t->a = 1; /* TX */
	if (c)
		t->b = 2; /* TX */
	else
		t->b = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return c;
}

uint64_t used_after(PMEMobjpool *pop, struct thing *t);
uint64_t used_after(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	uint64_t old = t->b;
	const uint64_t fixed = t->n;
	t->b = old + 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return old + fixed;
}

int leaves_loop(PMEMobjpool *pop, struct thing *t);
int leaves_loop(PMEMobjpool *pop, struct thing *t)
{
	int found = -1;

	for (int i = 0; i < 8; i++) {
		if (t->list[i])
			continue;
		t->list[i] = 7; /* TX */
		if (i == 5)
			break;
		t->n++; /* TX */
	}
	pmemobj_persist(pop, t, sizeof *t);
	return found;
}

int goes_to(PMEMobjpool *pop, struct thing *t);
int goes_to(PMEMobjpool *pop, struct thing *t)
{
	int result = -1;

	t->a = 1; /* TX */
	if (t->n)
		goto out;
	t->b = 2; /* TX */
	result = 0;
out:
	pmemobj_persist(pop, t, sizeof *t);
	return result;
}

struct thing *returns(PMEMobjpool *pop, struct thing *t);
struct thing *returns(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	for (int i = 0; i < 8; i++)
		if (t->list[i] == 3)
			return t->next;
	if (!t->next)
		return NULL;
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return t;
}

void nothing(PMEMobjpool *pop, struct thing *t, const char *text);
void nothing(PMEMobjpool *pop, struct thing *t, const char *text)
{
	t->list[t->n++] = 5; /* TX */
	if (t->n == 8)
		return;
	t->high = 3; /* TX */
	strcpy(t->text, text); /* TX */
	memset(t->list, 0, sizeof t->list); /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void twice(struct thing *t);
void twice(struct thing *t)
{
	t->a++; /* TX */
	t->a++; /* TX */
	t = t->next;
	t->a++; /* TX */
}

void switches(PMEMobjpool *pop, struct thing *t, int which);
void switches(PMEMobjpool *pop, struct thing *t, int which)
{
	switch (which) {
	case 1:
		t->a = 1; /* TX */
		t->b = 1; /* TX */
		break;
	case 2:
		t->a = 2;
		break;
	default:
		break;
	}
	pmemobj_persist(pop, t, sizeof *t);
}

void extends(PMEMobjpool *pop, struct thing *t);
void extends(PMEMobjpool *pop, struct thing *t)
{
	t->n = 0; /* TX */
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
	} TX_ONABORT {
		t = NULL;
	} TX_END
	if (t)
		t->b = 2; /* TX */
}

void forgets(PMEMobjpool *pop, struct thing *t);
void forgets(PMEMobjpool *pop, struct thing *t)
{
	TX_BEGIN(pop) {
		TX_ADD_DIRECT(&t->a);
		t->a = 1; /* LOGGED */
		if (t->n)
			t->b = 2; /* FORGOTTEN */
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
	if ((t->a = t->n)) /* TX */
		t->b = 1; /* TX */
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
	(c ? t : u)->a = 1; /* TX */
	*(c ? &t->b : &u->b) = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void commas(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1, t->b = 2; /* TX */
	t->n = t->list[0] = 3; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

uint64_t initialises(PMEMobjpool *pop, struct thing *t)
{
	uint64_t old = t->n++; /* TX */

	t->b = old; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return old;
}

int retry(PMEMobjpool *pop, struct thing *t)
{
	int n = 0;
again:
	t->a++; /* TX */
	if (n++ < 3)
		goto again;
	t->b++; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return n;
}

void falls_through(PMEMobjpool *pop, struct thing *t, int which)
{
	switch (which) {
	case 0:
		t->a = 1; /* TX */
		/* fallthrough */
	case 1:
		t->b = 1; /* TX */
		break;
	}
	pmemobj_persist(pop, t, sizeof *t);
}

void steps(PMEMobjpool *pop, struct thing *t, int i)
{
	t->list[i++] = 1; /* TX */
	t->list[i] = 2; /* TX */
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
	*t = (struct thing){ .a = 1 }; /* TX */
	*(uint64_t *)((char *)t + 8) = 1; /* TX */
	((struct thing *)t->next)->a = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void elseif(PMEMobjpool *pop, struct thing *t, int c, int d)
{
	if (c) t->a = 1; /* TX */
	else if (d)
		t->b = 2; /* TX */
	else
		t->n = 3;
	t->high = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

uint64_t keeps_buffer(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	char buf[8] = "abc";
	struct thing *next = t->next;
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return next->a + strlen(buf);
}

TOID(struct thing) gives_handle(PMEMobjpool *pop, TOID(struct thing) t)
{
	D_RW(t)->a = 1; /* TX */
	if (D_RO(t)->n)
		return TOID_NULL(struct thing);
	D_RW(t)->b = 2; /* TX */
	return t;
}

const char *
gnu_style(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (t->n)
		return "n";
	t->b = 2; /* TX */
	return NULL;
}

int in_one_line(PMEMobjpool *pop, struct thing *t)
{
	if (t->n) { t->a = 1; if (t->b) return 7; t->b = 2; } /* TX */
	(void)pop;
	return 1;
}

int two_of_them(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (t->b)
		return 7;
	t->b = 2; /* TX */
	puts("x");
	t->n = 1; /* TX2 */
	if (t->low)
		return 8;
	t->high = 1; /* TX2 */
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
		t->n = 1; /* TX */
		t->high = 1; /* TX */
		break;
	case 2:
		t->low = 1;
	}
	(void)pop;
	return 1;
}

void strings(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	if (strchr("one \
two", 'x'))
		return;
	t->b = 2; /* TX */
	(void)pop;
}

void nested(PMEMobjpool *pop, struct thing *t, int c)
{
	t->a = 1; /* TX */
	if (c) {
		TX_BEGIN(pop) {
			TX_ADD_DIRECT(&t->n);
			t->n = 1; /* LOGGED */
		} TX_END
	}
	t->b = 2; /* TX */
}

int evident_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return -1;
	t->a = 1; /* TX */
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return 0;
}

bool no_error(PMEMobjpool *pop, struct thing *t, int c)
{
	if (c < 0)
		return false;
	t->a = 1; /* TX */
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return true;
}

int error_numbers(PMEMobjpool *pop, struct thing *t, int which)
{
	if (which)
		return -EINVAL;
	t->n = 1; /* TX */
	t->high = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	return 1;
}

int cleans_up(PMEMobjpool *pop, struct thing *t, int which)
{
	char *p = malloc(8);

	if (!p)
		return -1;
	p = realloc(p, 80);
	t->n = 1; /* TX */
	t->high = 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
	free(p);
	return which;
}

void fills(PMEMobjpool *pop, struct thing *t, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		t->list[i] = i; /* TX */
	memcpy(t->text, "abc", 4); /* TX */
	t->n = n; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

void uses_macro(PMEMobjpool *pop, struct thing *t)
{
	FIELD(t) = 1; /* TX */
	t->b += 1; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

/* ---- with a flush and a fence for another store ---- */

void durable_too(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	pmemobj_persist(pop, &t->a, sizeof t->a);
	t->n = 7; /* FLUSH */
	t->b = 2; /* TX */
	pmemobj_persist(pop, &t->b, sizeof t->b);
}

void durable_beside(PMEMobjpool *pop, struct thing *t)
{
	t->a = 1; /* TX */
	t->b = 2; /* TX */
	t->n = 7; /* FLUSH */
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

	t->n++; /* TX */
	pmemobj_alloc(pop, &oid, sizeof(struct node), 1, NULL, NULL);
	p = pmemobj_direct(oid);
	p->v = 1; /* SEEN */
	p->raw->v = 2; /* SEEN */
	t->head = oid; /* TX */
	return 0;
}

int allocates_perhaps(PMEMobjpool *pop, struct top *t, int c)
{
	PMEMoid oid = t->head;
	struct node *p;

	t->n++; /* TX */
	if (c)
		pmemobj_alloc(pop, &oid, sizeof(struct node), 1, NULL, NULL);
	p = pmemobj_direct(oid);
	p->v = 1; /* SEEN */
	t->head = oid; /* TX */
	return 0;
}

int allocates_checked(PMEMobjpool *pop, struct top *t)
{
	t->n++; /* TX */
	int ret = pmemobj_zalloc(pop, &t->head, 64, 1);
	if (ret)
		return ret;
	t->all[0] = t->head; /* TX */
	return 0;
}

int releases(PMEMobjpool *pop, struct top *t, PMEMoid *oidp)
{
	t->n++; /* TX */
	pmemobj_free(oidp);
	pmemobj_free(&t->all[1]);
	for (int i = 0; i < 4; i++)
		pmemobj_free(&t->all[i]);
	t->all[0] = t->head; /* TX */
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
	t->a = 1; /* TX */
	if (t->n > 8)
		fprintf(stderr, "too many\n");
	t->b = 2; /* TX */
	pmemobj_persist(pop, t, sizeof *t);
}

int locks(PMEMobjpool *pop, struct thing *t, PMEMmutex *lock)
{
	if (!t->n)
		return -1;
	t->a = 1; /* TX */
	if (pmemobj_mutex_lock(pop, lock))
		return -1;
	t->b = 2; /* TX */
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
	s->a = 1; /* TX */
	s->b = 2; /* TX */
	pmemobj_persist(pop, &s->b, sizeof s->b);
}
