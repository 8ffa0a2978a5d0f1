/* A pool with lines that are stored to and never flushed, and that recovery never reads (a free list that is rebuilt), and some that it does read (hints, of
 * which any value will do). Correct.
 *
 *   undecided POOL run LINES HINTS      stores to so many lines of each kind, then commits once
 *   undecided POOL check */
#include "pm.h"

#define HINTS_MAX 1024u

struct line {
	uint64_t word;
	char rest[LINE_BYTES - sizeof(uint64_t)];
};

struct pool {
	struct line nhints; /* the commit */
	struct line hints[HINTS_MAX];
	struct line free_list[];
};

static void run(const char *path, size_t nlines, size_t nhints)
{
	struct pool *p = pool_create(path, sizeof *p + nlines * sizeof p->free_list[0]);

	CHECK(nhints <= HINTS_MAX);
	for (size_t i = 0; i < nlines; i++)
		p->free_list[i].word = i + 1;
	for (size_t i = 0; i < nhints; i++)
		p->hints[i].word = i + 1;
	p->nhints.word = nhints;
	persist(&p->nhints, sizeof p->nhints);
}

static void check(const char *path)
{
	const struct pool *p = pool_open(path, sizeof *p);

	for (size_t i = 0; p && i < p->nhints.word; i++)
		CHECK(p->hints[i].word == 0 || p->hints[i].word == i + 1);
}

int main(int argc, char **argv)
{
	CHECK(argc > 2);
	if (strcmp(argv[2], "check") == 0)
		check(argv[1]);
	else
		run(argv[1], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	return 0;
}
