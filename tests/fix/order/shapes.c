/* Places where a transaction is not simply put around two statements. In each function, what is marked must be in one transaction. */
#include <libpmemobj.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
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
