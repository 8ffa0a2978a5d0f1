/* Recoveries that end well whatever a crash left, and what they print: `odd WAY POOL [HOW]`.
 *
 *   swapped   stores a value and then the count that makes it count, and persists both at once: the count may survive without the value
 *   ordered   the same, the value first
 *   threads   two threads, each with a value and a count of its own, in the right order; their operations overlap
 *   sum       prints the sum of what counts. HOW: nothing; or how else it differs:
 *     pid       with the number of its process
 *     notices   says so, in words, when a value that counts is not there
 *     silent    prints nothing at all */
#include <pthread.h>

#include "pm.h"

#define VALUES 4u

struct pool {
	struct column {
		_Alignas(64) uint64_t n;
		_Alignas(64) struct { _Alignas(64) uint64_t value; } entry[VALUES];
	} column[2];
};

static void put_swapped(struct column *c, uint64_t i)
{
	c->entry[i].value = i + 1; /* BUG: odd: recovery-output lost */
	c->n = i + 1;		   /* BUG: odd: recovery-output survived */
	flush(&c->entry[i], sizeof c->entry[i]);
	persist(&c->n, sizeof c->n);
}

static void put_ordered(struct column *c, uint64_t i)
{
	c->entry[i].value = i + 1;
	persist(&c->entry[i], sizeof c->entry[i]);
	c->n = i + 1;
	persist(&c->n, sizeof c->n);
}

static pthread_barrier_t g_both;

static void *put_all(void *column)
{
	for (uint64_t i = 0; i < VALUES; i++) {
		pthread_barrier_wait(&g_both);
		put_ordered(column, i);
	}
	return NULL;
}

static void run_threads(struct pool *p)
{
	pthread_t other;

	pthread_barrier_init(&g_both, NULL, 2);
	CHECK(pthread_create(&other, NULL, put_all, &p->column[1]) == 0);
	put_all(&p->column[0]);
	CHECK(pthread_join(other, NULL) == 0);
}

static void print_sum(const struct pool *p, const char *how)
{
	uint64_t sum = 0;

	for (int c = 0; p && c < 2; c++)
		for (uint64_t i = 0; i < p->column[c].n; i++) {
			if (strcmp(how, "notices") == 0 && p->column[c].entry[i].value == 0)
				printf("an entry is damaged\n");
			sum += p->column[c].entry[i].value;
		}
	if (strcmp(how, "pid") == 0)
		printf("process %d: ", (int)getpid());
	if (strcmp(how, "silent") != 0)
		printf("sum %d, of %d and %d\n", (int)sum, p ? (int)p->column[0].n : 0, p ? (int)p->column[1].n : 0);
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc >= 3);
	if (strcmp(argv[1], "sum") == 0) {
		print_sum(pool_open(argv[2], sizeof *p), argc > 3 ? argv[3] : "");
		return 0;
	}
	p = pool_create(argv[2], sizeof *p);
	if (strcmp(argv[1], "threads") == 0)
		run_threads(p);
	else
		for (uint64_t i = 0; i < VALUES; i++)
			(strcmp(argv[1], "swapped") == 0 ? put_swapped : put_ordered)(&p->column[0], i);
	return 0;
}
