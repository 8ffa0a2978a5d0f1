/* Two or three bugs at once in transactions of libpmemobj: as several.c, with its arguments and its marks.
 *
 *	PROG POOL create	a pool for the others */
#include <libpmemobj.h>
#include <stdbool.h>

#include "crash/pm.h"

enum { NROUNDS = 2 };

struct line {
	_Alignas(LINE_BYTES) uint64_t a;
	uint64_t b, c, d, rest[4], gap[8]; /* no commit writes one back by chance */
};

/* What a transaction changes together, and words that are persisted directly. */
struct root {
	struct line is_ready, x, y, z, flag, note;
};

static const char *fixed = "";

static bool lacks(char number)
{
	return !strchr(fixed, number);
}

static __attribute__((noinline)) void change_a(struct root *r, uint64_t i)
{
	if (!lacks('1'))
		TX_ADD_DIRECT(&r->x.a);
	r->x.a = i; /* BUG functions 1 */
}

static __attribute__((noinline)) void change_b(struct root *r, uint64_t i)
{
	if (!lacks('2'))
		TX_ADD_DIRECT(&r->x.b);
	r->x.b = i; /* BUG functions 2 */
}

/* Two functions of one transaction, two ranges of one line. */
static void functions_run(PMEMobjpool *pop, struct root *r)
{
	for (uint64_t i = 1; i <= NROUNDS; i++) {
		TX_BEGIN(pop)
		{
			TX_ADD_DIRECT(&r->y.a);
			r->y.a = i;
			change_a(r, i);
			change_b(r, i);
		}
		TX_END
	}
}

static void functions_recover(const struct root *r)
{
	CHECK(r->x.a == r->y.a);
	CHECK(r->x.b == r->y.a);
}

/* Of two lines, in one function. */
static void lines_run(PMEMobjpool *pop, struct root *r)
{
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->y.a);
		r->y.a = 1;
		if (!lacks('1'))
			TX_ADD_DIRECT(&r->x.a);
		r->x.a = 1; /* BUG lines 1 */
		if (!lacks('2'))
			TX_ADD_DIRECT(&r->z.a);
		r->z.a = 1; /* BUG lines 2 */
		if (!lacks('3'))
			TX_ADD_DIRECT(&r->z.c);
		r->z.c = 1; /* BUG lines 3 */
	}
	TX_END
}

static void lines_recover(const struct root *r)
{
	CHECK(r->x.a == r->y.a);
	CHECK(r->z.a == r->y.a);
	CHECK(r->z.c == r->y.a);
}

/* Before the transaction, and in it. */
static void before_run(PMEMobjpool *pop, struct root *r)
{
	r->note.a = 1; /* BUG before 1 */
	if (!lacks('1'))
		pmemobj_persist(pop, &r->note.a, 8);
	TX_BEGIN(pop)
	{
		TX_ADD_DIRECT(&r->y.a);
		r->y.a = 1;
		if (!lacks('2'))
			TX_ADD_DIRECT(&r->x.a);
		r->x.a = 1; /* BUG before 2 */
	}
	TX_END
	pmemobj_persist(pop, &r->note.a, 8);
}

static void before_recover(const struct root *r)
{
	CHECK(!r->y.a || r->note.a);
	CHECK(r->x.a == r->y.a);
}

/* Each second transaction lacks something else. */
static void turns_run(PMEMobjpool *pop, struct root *r)
{
	for (uint64_t i = 1; i <= 2 * NROUNDS; i++) {
		TX_BEGIN(pop)
		{
			TX_ADD_DIRECT(&r->y.a);
			r->y.a = i;
			if (!lacks('1') || i % 2)
				TX_ADD_DIRECT(&r->x.a);
			r->x.a = i; /* BUG turns 1 */
			if (!lacks('2') || i % 2 == 0)
				TX_ADD_DIRECT(&r->x.b);
			r->x.b = i; /* BUG turns 2 */
		}
		TX_END
	}
}

static const struct {
	const char *name;
	void (*run)(PMEMobjpool *pop, struct root *r);
	void (*recover)(const struct root *r);
} cases[] = {
	{ "functions", functions_run, functions_recover }, { "lines", lines_run, lines_recover },
	{ "before", before_run, before_recover },
	{ "turns", turns_run, functions_recover },
};

int main(int argc, char **argv)
{
	const bool is_recovery = argc > 3 && strcmp(argv[3], "recover") == 0, is_new = strcmp(argv[2], "create") == 0;
	PMEMobjpool *pop = is_new ? pmemobj_create(argv[1], "several", PMEMOBJ_MIN_POOL, 0600) : pmemobj_open(argv[1], "several");
	struct root *r;

	CHECK(pop);
	fixed = argc > 3 ? argv[3] : "";
	r = pmemobj_direct(pmemobj_root(pop, sizeof *r + LINE_BYTES));
	/* objects begin inside a line: the root's lines are those that its address makes */
	r = (struct root *)(((uintptr_t)r + LINE_BYTES - 1) & ~(uintptr_t)(LINE_BYTES - 1));
	for (size_t i = 0; !is_new && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, argv[2]) == 0) {
			if (is_recovery)
				cases[i].recover(r);
			else
				cases[i].run(pop, r);
		}
	pmemobj_close(pop);
	return 0;
}
