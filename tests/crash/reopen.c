/* A log that its own recovery cannot open again: `reopen WAY POOL`.
 *
 *   run      appends ENTRIES entries, correctly
 *   recover  sums the log; on the last entry it follows a pointer that nobody sets: it dies whenever the log is full, though nothing is lost
 *   middle   dies when the log has just so many entries that the program goes on from there
 *   abort    the same by an assertion
 *   always   dies on any pool that is there
 *   absent   dies where there is no pool, and is fine with any other
 *   careful  sums the log as it should
 *   blind    dies without a look at the pool
 *   hungry   needs memory for the full log, and does not look whether it got it
 *   killed   is killed by SIGKILL, which says nothing about whose fault it is
 *   status   exits with 1 on a full log, as a checker does that is wrong about it */
#include <assert.h>
#include <signal.h>

#include "pm.h"

#define ENTRIES 5u
#define HUNGER ((size_t)300 << 20)

struct pool {
	_Alignas(64) uint64_t n;
	_Alignas(64) struct { _Alignas(64) uint64_t value; } entry[ENTRIES];
};

static void run(const char *path)
{
	struct pool *p = pool_create(path, sizeof *p);

	for (uint64_t i = 0; i < ENTRIES; i++) {
		p->entry[i].value = i + 1;
		persist(&p->entry[i], sizeof p->entry[i]);
		p->n = i + 1;
		persist(&p->n, sizeof p->n);
		puts("appended");
		fflush(stdout);
	}
}

static uint64_t sum_of(const struct pool *p)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; p && i < p->n; i++)
		sum += p->entry[i].value;
	return sum;
}

static int is_full(const struct pool *p)
{
	return p && p->n == ENTRIES;
}

static volatile uint64_t *volatile g_nobody_sets_it;

static void follow(const struct pool *p)
{
	if (is_full(p))
		*g_nobody_sets_it = sum_of(p); /* BUG: died */
}

static void die_hungry(const struct pool *p)
{
	char *all = is_full(p) ? mmap(NULL, HUNGER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;

	if (all)
		*(volatile char *)all = 1; /* MAP_FAILED is no place to write to */
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	const struct pool *p;

	CHECK(argc == 3);
	if (strcmp(way, "run") == 0) {
		run(argv[2]);
		return 0;
	}
	if (strcmp(way, "blind") == 0)
		abort();
	p = pool_open(argv[2], sizeof *p);
	if (strcmp(way, "absent") == 0 && !p)
		abort();
	if (strcmp(way, "middle") == 0 && p && p->n == ENTRIES / 2)
		abort();
	if (strcmp(way, "recover") == 0)
		follow(p);
	else if (strcmp(way, "abort") == 0)
		assert(!is_full(p));
	else if (strcmp(way, "always") == 0)
		abort();
	else if (strcmp(way, "hungry") == 0)
		die_hungry(p);
	else if (strcmp(way, "killed") == 0 && is_full(p))
		raise(SIGKILL);
	else if (strcmp(way, "status") == 0)
		return is_full(p);
	printf("%d\n", (int)sum_of(p));
	return 0;
}
