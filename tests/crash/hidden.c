/* Bugs that share a line, or a way to fail, so that one of them could be taken for another one. Each value that is marked is lost while the flag with its number survives: a bug of its own.
 *
 *	PROG POOL			creates the pool and runs all cases, each on a part of its own
 *	PROG POOL CASE exit		recovery of one: status 1 for whatever is missing
 *	PROG POOL CASE codes		a status of its own for each
 *	PROG POOL CASE die		a function of its own for each, which is killed
 *	PROG POOL CASE backwards	as exit, but what is stored last is looked at first
 *	PROG POOL CASE dump		prints what is published */
#include <signal.h>
#include <stdbool.h>

#include "pm.h"

enum { N = 3 };

struct line {
	_Alignas(LINE_BYTES) uint64_t is_set;
};

struct part {
	_Alignas(LINE_BYTES) uint64_t value[N]; /* in one line */
	struct line flag[N];			/* value[i] is there */
};

#define PUBLISH(p, i) ((p)->flag[i].is_set = 1, flush(&(p)->flag[i], 8))

/* Both are published with one fence, before either is durable. */
static void together_run(struct part *p)
{
	p->value[0] = 1; /* BUG: together: lost */
	p->value[1] = 1; /* BUG: together: lost */
	PUBLISH(p, 0);
	PUBLISH(p, 1);
	fence();
	persist(p->value, sizeof p->value);
}

/* The one that is stored first is published last. */
static void crossed_run(struct part *p)
{
	p->value[0] = 1; /* BUG: crossed: lost */
	p->value[1] = 1; /* BUG: crossed: lost */
	PUBLISH(p, 1);
	PUBLISH(p, 0);
	fence();
	persist(p->value, sizeof p->value);
}

/* One after the other. */
static void apart_run(struct part *p)
{
	PMEND_OP_BEGIN("first");
	p->value[0] = 1; /* BUG: apart: lost */
	PUBLISH(p, 0);
	fence();
	PMEND_OP_END("first");
	PMEND_OP_BEGIN("second");
	p->value[1] = 1; /* BUG: apart: lost */
	PUBLISH(p, 1);
	fence();
	PMEND_OP_END("second");
	persist(p->value, sizeof p->value);
}

static void three_run(struct part *p)
{
	p->value[0] = 1; /* BUG: three: lost */
	p->value[1] = 1; /* BUG: three: lost */
	p->value[2] = 1; /* BUG: three: lost */
	PUBLISH(p, 0);
	PUBLISH(p, 1);
	PUBLISH(p, 2);
	fence();
	persist(p->value, sizeof p->value);
}

/* The second of two in a line is right. */
static void half_run(struct part *p)
{
	p->value[0] = 1; /* BUG: half: lost */
	PUBLISH(p, 0);
	fence();
	p->value[1] = 1;
	persist(p->value, sizeof p->value);
	PUBLISH(p, 1);
	fence();
}

static void right_run(struct part *p)
{
	PMEND_OP_BEGIN("first");
	p->value[0] = 1;
	persist(p->value, sizeof p->value);
	PUBLISH(p, 0);
	fence();
	PMEND_OP_END("first");
	PMEND_OP_BEGIN("second");
	p->value[1] = 1;
	p->value[2] = 1;
	persist(p->value, sizeof p->value);
	PUBLISH(p, 1);
	fence();
	PMEND_OP_END("second");
	PUBLISH(p, 2);
	fence();
}

/* What is lost shows in two ways, which one of them depends on something else that may be lost: one bug. */
static void ways_run(struct part *p)
{
	p->value[0] = 1; /* BUG: ways: lost */
	p->value[2] = 2; /* before the flag, in the same line */
	p->flag[2].is_set = 2;
	flush(&p->flag[2], 8);
	PUBLISH(p, 0);
	fence();
	persist(p->value, sizeof p->value);
}

static const struct {
	const char *name;
	void (*run)(struct part *p);
} cases[] = { { "together", together_run }, { "crossed", crossed_run }, { "apart", apart_run }, { "three", three_run },
	      { "half", half_run },	    { "right", right_run },	{ "ways", ways_run } };

enum { NCASES = sizeof cases / sizeof *cases };

struct pool {
	struct part parts[NCASES];
};

/* ---- recovery ---- */

static bool is_missing(const volatile struct part *p, int i)
{
	return p->flag[i].is_set == 1 && !p->value[i];
}

__attribute__((noinline)) static void first_is_missing(void)
{
	raise(SIGABRT);
}

__attribute__((noinline)) static void second_is_missing(void)
{
	raise(SIGABRT);
}

__attribute__((noinline)) static void third_is_missing(void)
{
	raise(SIGABRT);
}

static void (*const deaths[N])(void) = { first_is_missing, second_is_missing, third_is_missing };

static int dump(const volatile struct part *p)
{
	for (int i = 0; i < N; i++)
		if (p->flag[i].is_set)
			printf("%d: %d\n", i, (int)p->value[i]);
	return 0;
}

static int recover(const volatile struct part *p, const char *how)
{
	const bool is_backwards = strcmp(how, "backwards") == 0;

	if (strcmp(how, "dump") == 0)
		return dump(p);
	for (int i = 0; i < N; i++) {
		const int at = is_backwards ? N - 1 - i : i;

		if (!is_missing(p, at))
			continue;
		if (strcmp(how, "die") == 0 && p->flag[2].is_set == 2)
			third_is_missing(); /* ways */
		if (strcmp(how, "die") == 0)
			deaths[at]();
		return strcmp(how, "codes") == 0 ? 11 + at : 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 2 || argc == 4);
	p = argc == 2 ? pool_create(argv[1], sizeof *p) : pool_open(argv[1], sizeof *p);
	for (int i = 0; p && i < NCASES; i++)
		if (argc == 2)
			cases[i].run(&p->parts[i]);
		else if (strcmp(cases[i].name, argv[2]) == 0)
			return recover(&p->parts[i], argv[3]);
	return 0;
}
