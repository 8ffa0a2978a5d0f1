/* Two or three bugs at once, in shapes that the mutants of this folder do not have. Each must be named, also when the others are there.
 *
 *	PROG POOL CASE [FIXED]	creates the pool and runs a case; FIXED: the numbers of bugs that it is to lack ("13")
 *	PROG POOL CASE recover	fails: what was found is no state of the case
 *
 * A statement that a finding may name is marked with the case and the number of the bug; a mark at a call is for what is done inside. several.py reads the marks. */
#include <pthread.h>

#include <stdbool.h>

#include "crash/pm.h"

struct line {
	_Alignas(LINE_BYTES) uint64_t a;
	uint64_t b, c, d;
};

enum { NWORDS = 44, NROUNDS = 4 };
enum { MAGIC = 0x6c617265766573 }; /* alone: from gcc 13 on, all values of an enum get its type */

struct pool {
	struct line magic, x, y, z, flag, flag2, flag3, out[NROUNDS], more[NROUNDS];
	_Alignas(LINE_BYTES) uint64_t first[NWORDS]; /* five and a half lines: */
	uint64_t second[NWORDS];		     /* the other half is this one's */
};

static const char *fixed = "";

static bool lacks(char number)
{
	return !strchr(fixed, number);
}

/* One store that no crash can tear, and that stays behind those before it in the line, on each processor. */
static void set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* ---- one line ---- */

/* Two words of a line, each published too early by a flag of its own. */
static void line_run(struct pool *p)
{
	set(&p->x.b, 1); /* BUG line 1 */ /* BUG deaths 1 */ /* BUG codes 1 */
	if (!lacks('1'))
		persist(&p->x, 8);
	set(&p->flag.a, 1);
	flush(&p->flag, 8);
	set(&p->x.a, 1); /* BUG line 2 */ /* BUG deaths 2 */ /* BUG codes 2 */
	if (!lacks('2'))
		persist(&p->x, 8);
	set(&p->flag2.a, 1);
	persist(&p->flag2, 8);
	persist(&p->x, 8);
}

static void line_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.b == 1);
	CHECK(!p->flag2.a || p->x.a == 1);
}

static __attribute__((noinline)) void die_of_b(void)
{
	abort();
}

static __attribute__((noinline)) void die_of_a(void)
{
	abort();
}

static void deaths_recover(struct pool *p)
{
	if (p->flag.a && !p->x.b)
		die_of_b();
	if (p->flag2.a && !p->x.a)
		die_of_a();
}

static void codes_recover(struct pool *p)
{
	if (p->flag2.a && !p->x.a)
		exit(3);
	if (p->flag.a && !p->x.b)
		exit(2);
}

/* Three words of a line, and each flag is durable before the next word is stored. */
static void three_run(struct pool *p)
{
	set(&p->x.a, 1); /* BUG three 1 */
	if (!lacks('1'))
		persist(&p->x, 8);
	set(&p->flag.a, 1);
	persist(&p->flag, 8);
	set(&p->x.b, 1); /* BUG three 2 */
	if (!lacks('2'))
		persist(&p->x, 8);
	set(&p->flag2.a, 1);
	persist(&p->flag2, 8);
	set(&p->x.c, 1); /* BUG three 3 */
	if (!lacks('3'))
		persist(&p->x, 8);
	set(&p->flag3.a, 1);
	persist(&p->flag3, 8);
	persist(&p->x, 8);
}

static void three_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a == 1);
	CHECK(!p->flag2.a || p->x.b == 1);
	CHECK(!p->flag3.a || p->x.c == 1);
}

/* ---- functions ---- */

static __attribute__((noinline)) void fill_first(struct pool *p)
{
	for (int i = 0; i < NWORDS; i++)
		p->first[i] = 1; /* BUG arrays 1 */
	if (!lacks('1'))
		flush(p->first, sizeof p->first);
}

static __attribute__((noinline)) void fill_second(struct pool *p)
{
	for (int i = 0; i < NWORDS; i++)
		p->second[i] = 2; /* BUG arrays 2 */
	if (!lacks('2'))
		flush(p->second, sizeof p->second);
}

/* Each forgets to flush an array of its own; the arrays meet in one line of eleven. */
static void arrays_run(struct pool *p)
{
	fill_first(p);
	fill_second(p);
	fence();
	p->flag.a = 1;
	persist(&p->flag, 8);
}

static void arrays_recover(struct pool *p)
{
	for (int i = 0; i < NWORDS && p->flag.a; i++)
		CHECK(p->first[i] == 1 && p->second[i] == 2);
}

static __attribute__((noinline)) void put(uint64_t *word, uint64_t value)
{
	*word = value;
}

/* One helper stores for both. */
static void helper_run(struct pool *p)
{
	put(&p->x.a, 1); /* BUG helper 1 */
	if (!lacks('1'))
		persist(&p->x, 8);
	set(&p->flag.a, 1);
	persist(&p->flag, 8);
	put(&p->y.a, 2); /* BUG helper 2 */
	if (!lacks('2'))
		persist(&p->y, 8);
	set(&p->flag2.a, 1);
	persist(&p->flag2, 8);
}

static void helper_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a == 1);
	CHECK(!p->flag2.a || p->y.a == 2);
}

/* No flush, no fence, and two that must change together, in one function. */
static void function_run(struct pool *p)
{
	p->x.a = 1; /* BUG function 1 */
	if (!lacks('1'))
		persist(&p->x, 8);
	p->y.a = 2; /* BUG function 2 */
	flush(&p->y, 8);
	if (!lacks('2'))
		fence();
	p->flag.a = 1;
	persist(&p->flag, 8);
	if (lacks('3')) {
		p->z.a = 5; /* BUG function 3 */
		p->out[0].a = 5; /* BUG function 3 */
		flush(&p->out[0], 8);
		persist(&p->z, 8);
	} else {
		p->z.a = p->z.b = 5;
		persist(&p->z, 16);
	}
	p->flag2.a = 1;
	persist(&p->flag2, 8);
}

static void function_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a == 1);
	CHECK(!p->flag.a || p->y.a == 2);
	CHECK(p->z.b || p->z.a == p->out[0].a);
}

/* ---- loops ---- */

/* Each second round lacks something else. */
static void loop_run(struct pool *p)
{
	for (uint64_t i = 0; i < NROUNDS; i++) {
		p->out[i].a = i + 1; /* BUG loop 1 */
		if (!lacks('1') || i % 2)
			persist(&p->out[i].a, 8);
		p->more[i].a = i + 1; /* BUG loop 2 */
		if (!lacks('2') || i % 2 == 0)
			persist(&p->more[i].a, 8);
		p->flag.a = i + 1;
		persist(&p->flag, 8);
	}
}

static void loop_recover(struct pool *p)
{
	for (uint64_t i = 0; i < p->flag.a && i < NROUNDS; i++) {
		CHECK(p->out[i].a == i + 1);
		CHECK(p->more[i].a == i + 1);
	}
}

/* ---- order ---- */

/* Two fences, and a flush that comes after what it is for. */
static void fences_run(struct pool *p)
{
	p->x.a = 1; /* BUG fences 1 */
	flush(&p->x, 8);
	if (!lacks('1'))
		fence();
	p->y.a = 1; /* BUG fences 2 */
	flush(&p->y, 8);
	if (!lacks('2'))
		fence();
	p->z.a = 1; /* BUG fences 3 */
	if (!lacks('3'))
		persist(&p->z, 8);
	p->flag.a = 1;
	persist(&p->flag, 8);
	persist(&p->z, 8);
}

static void fences_recover(struct pool *p)
{
	CHECK(!p->y.a || p->x.a);
	CHECK(!p->z.a || p->y.a);
	CHECK(!p->flag.a || p->z.a);
}

static void acknowledge(const char *text)
{
	CHECK(write(1, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Two operations are acknowledged before they are durable. */
static void early_run(struct pool *p)
{
	p->x.a = 1; /* BUG early 1 */
	flush(&p->x, 8);
	if (!lacks('1'))
		fence();
	acknowledge("put x\n");
	fence();
	p->y.a = 1; /* BUG early 2 */
	if (!lacks('2'))
		persist(&p->y, 8);
	acknowledge("put y\n");
	persist(&p->y, 8);
}

static void early_recover(struct pool *p)
{
	printf("%d %d\n", p ? (int)p->x.a : 0, p ? (int)p->y.a : 0);
}

/* ---- threads ---- */

static void *store_x(void *arg)
{
	struct pool *p = arg;

	set(&p->x.a, 1); /* BUG threads 1 */
	if (!lacks('1'))
		persist(&p->x, 8);
	set(&p->flag.a, 1);
	persist(&p->flag, 8);
	return NULL;
}

static void *store_y(void *arg)
{
	struct pool *p = arg;

	set(&p->x.b, 1); /* BUG threads 2 */
	flush(&p->x, 16);
	if (!lacks('2'))
		fence();
	set(&p->flag2.a, 1);
	persist(&p->flag2, 8);
	return NULL;
}

/* Of one line, one word each. */
static void threads_run(struct pool *p)
{
	void *(*const start[])(void *) = { store_x, store_y };

	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, start[i], p) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
}

static void threads_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a);
	CHECK(!p->flag2.a || p->x.b);
}

/* ---- never written back ---- */

static void update_header(struct pool *p)
{
	p->x.a = 7; /* BUG never 1 */
	if (!lacks('1'))
		flush(&p->x, 8);
}

static void update_rest(struct pool *p)
{
	p->y.a = 8; /* BUG never 2 */
	p->z.a = 9;
	if (!lacks('2'))
		flush(&p->y, 8);
	flush(&p->z, 8);
}

static void update_tail(struct pool *p)
{
	p->y.b = 8; /* BUG never 3 */
	if (!lacks('3'))
		flush(&p->y.b, 8);
}

/* Three functions; two of them store to one line, each for a flag of its own. */
static void never_run(struct pool *p)
{
	update_header(p);
	update_rest(p);
	fence();
	p->flag2.a = 1;
	persist(&p->flag2, 8);
	update_tail(p);
	fence();
	p->flag.a = 1;
	persist(&p->flag, 8);
}

static void never_recover(struct pool *p)
{
	CHECK(!p->flag.a || (p->x.a == 7 && p->z.a == 9));
	CHECK(!p->flag2.a || p->y.a == 8);
	CHECK(!p->flag.a || p->y.b == 8);
}

/* Two words of a line, in one line of the source: one flush is missing, and serves both. */
static void one_run(struct pool *p)
{
	p->x.a = 1; /* BUG one 1 */
	p->x.b = 2;
	p->x.c = 3;
	if (!lacks('1'))
		persist(&p->x, 24);
	p->flag.a = 1;
	persist(&p->flag, 8);
	p->flag2.a = 1;
	persist(&p->flag2, 8);
}

static void one_recover(struct pool *p)
{
	CHECK(!p->flag.a || p->x.a == 1);
	CHECK(!p->flag2.a || p->x.b == 2);
	CHECK(!p->flag2.a || p->x.c == 3);
}

static const struct {
	const char *name;
	void (*run)(struct pool *p), (*recover)(struct pool *p);
} cases[] = {
	{ "line", line_run, line_recover },	    { "deaths", line_run, deaths_recover },	{ "codes", line_run, codes_recover },
	{ "three", three_run, three_recover },	    { "arrays", arrays_run, arrays_recover },	{ "helper", helper_run, helper_recover },
	{ "function", function_run, function_recover }, { "loop", loop_run, loop_recover },	{ "fences", fences_run, fences_recover },
	{ "early", early_run, early_recover },	    { "threads", threads_run, threads_recover }, { "never", never_run, never_recover },
	{ "one", one_run, one_recover },
};

int main(int argc, char **argv)
{
	const bool is_recovery = argc > 3 && strcmp(argv[3], "recover") == 0;
	struct pool *p = is_recovery ? pool_open(argv[1], sizeof *p) : pool_create(argv[1], sizeof *p);

	fixed = argc > 3 ? argv[3] : "";
	if (!is_recovery) {
		p->magic.a = MAGIC;
		persist(&p->magic.a, 8);
	}
	if (p && p->magic.a != MAGIC)
		p = NULL;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if ((p || cases[i].recover == early_recover) && strcmp(cases[i].name, argv[2]) == 0)
			(is_recovery ? cases[i].recover : cases[i].run)(p);
	return 0;
}
