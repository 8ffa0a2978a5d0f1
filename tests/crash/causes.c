/* Causes that show by several findings, and causes of which each must stay one. run.py says how they are marked; a line that is marked `more` is of a finding that
 * is listed under another.
 *
 *	PROG POOL CASE		creates the pool and runs a case
 *	PROG POOL CASE recover	status 1: what was found is no state of the case */
#include "pm.h"

struct line {
	_Alignas(LINE_BYTES) uint64_t a;
	uint64_t b, c;
};

struct pool {
	struct line magic, state, x, y, z, flag, other;
	uint64_t first[20], second[20]; /* they meet in the third of five lines */
};

enum { MAGIC = 0x6573756163, ROUNDS = 2 };

/* From the first store to the last one, recovery refuses the pool, wherever the crash comes: one window, five failure points. */
static void window_run(struct pool *p)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		p->state.a = i; /* BUG: window: atomicity survived */
		persist(&p->state.a, 8);
		p->x.a = i;
		persist(&p->x.a, 8);
		p->y.a = i;
		persist(&p->y.a, 8);
		if (i > 1) {
			p->z.a = i;
			persist(&p->z.a, 8);
		}
		p->state.a = 0; /* BUG: window: atomicity lost */
		persist(&p->state.a, 8);
	}
}

static void window_recover(struct pool *p)
{
	CHECK(p->state.a == 0);
}

/* What must be equal is stored one after the other: fails whichever of the two is lost. */
static void pair_run(struct pool *p)
{
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		p->x.a = i; /* BUG: pair: atomicity survived */
		p->y.a = i; /* BUG: pair: atomicity lost */
		flush(&p->y.a, 8);
		flush(&p->x.a, 8);
		fence();
	}
}

/* The same, and one of them is never written back. */
static void never_run(struct pool *p)
{
	p->x.a = 1; /* BUG: never: atomicity survived */
	p->y.a = 1; /* BUG: never: atomicity lost */
	persist(&p->y.a, 8);
	p->flag.a = 1;
	persist(&p->flag.a, 8);
}

static void pair_recover(struct pool *p)
{
	CHECK(p->x.a == p->y.a);
}

/* One fence is missing, and three stores come too late. */
static void fence_run(struct pool *p)
{
	p->x.a = 1; /* BUG: fence: ordering lost */
	flush(&p->x.a, 8);
	p->y.a = 2;
	flush(&p->y.a, 8);
	p->z.a = 3;
	flush(&p->z.a, 8);
	p->flag.a = 1; /* BUG: fence: ordering survived */
	persist(&p->flag.a, 8);
}

static void fence_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a == 1);
	CHECK(!p->flag.a || p->y.a == 2);
	CHECK(!p->flag.a || p->z.a == 3);
}

/* Two fences are missing: one cannot do what both must. */
static void fences_run(struct pool *p)
{
	p->x.a = 1; /* BUG: fences: ordering lost */
	flush(&p->x.a, 8);
	p->y.a = 2; /* BUG: fences: ordering survived */ /* BUG: more: ordering lost */
	flush(&p->y.a, 8);
	p->flag.a = 1; /* BUG: more: ordering survived */
	persist(&p->flag.a, 8);
}

static void fences_recover(struct pool *p)
{
	if (p->y.a && p->x.a != 1)
		exit(2); /* another failure: one state that has both is not taken for the other */
	CHECK(!p->flag.a || p->y.a == 2);
}

/* One flush is missing, and with it three words of a line; and another one, of another line. */
static void flush_run(struct pool *p)
{
	p->x.a = 1; /* BUG: flush: missing-flush lost */
	p->x.b = 2;
	p->x.c = 3;
	p->y.a = 4; /* BUG: other: missing-flush lost */
	p->flag.a = 1;
	persist(&p->flag.a, 8);
	p->other.a = 1;
	persist(&p->other.a, 8);
}

static void flush_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a == 1);
	CHECK(!p->flag.a || p->x.b == 2);
	CHECK(!p->flag.a || p->x.c == 3);
	CHECK(!p->flag.a || p->y.a == 4);
}

/* Two functions each forget to flush an array of their own: a call for one of them leaves the other, though they share a line. */
static void fill_first(struct pool *p)
{
	for (uint64_t i = 0; i < 20; i++)
		p->first[i] = i + 1; /* BUG: arrays: missing-flush lost */
}

static void fill_second(struct pool *p)
{
	for (uint64_t i = 0; i < 20; i++)
		p->second[i] = i + 1; /* BUG: arrays: missing-flush lost */
}

static void arrays_run(struct pool *p)
{
	fill_first(p);
	fill_second(p);
	p->flag.a = 1;
	persist(&p->flag.a, 8);
}

static void arrays_recover(struct pool *p)
{
	CHECK(!p->flag.a || (p->first[0] && p->first[19]));
	CHECK(!p->flag.a || (p->second[0] && p->second[19]));
}

/* The same where both store to the very same lines: one call serves both, wherever it is. */
static void words_first(struct pool *p)
{
	p->x.a = 1; /* BUG: words: missing-flush lost */
}

static void words_second(struct pool *p)
{
	p->x.b = 2; /* BUG: words: missing-flush lost */
}

static void words_run(struct pool *p)
{
	words_first(p);
	words_second(p);
	p->flag.a = 1;
	persist(&p->flag.a, 8);
}

static void words_recover(struct pool *p)
{
	CHECK(!p->flag.a || (p->x.a == 1 && p->x.b == 2));
}

static const struct {
	const char *name;
	void (*run)(struct pool *p), (*recover)(struct pool *p);
} cases[] = {
	{ "window", window_run, window_recover }, { "pair", pair_run, pair_recover },	    { "never", never_run, pair_recover },
	{ "fence", fence_run, fence_recover },	  { "fences", fences_run, fences_recover }, { "flush", flush_run, flush_recover },
	{ "arrays", arrays_run, arrays_recover }, { "words", words_run, words_recover },
};

int main(int argc, char **argv)
{
	struct pool *p = argc > 3 ? pool_open(argv[1], sizeof *p) : pool_create(argv[1], sizeof *p);

	if (argc == 3) {
		p->magic.a = MAGIC;
		persist(&p->magic.a, 8);
	}
	for (size_t i = 0; p && p->magic.a == MAGIC && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, argv[2]) == 0)
			(argc > 3 ? cases[i].recover : cases[i].run)(p);
	return 0;
}
