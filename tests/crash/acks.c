/* Acknowledges operations. `acks run POOL`: counts one number up and prints a line before it is durable, then the same with another number and after it is durable;
 * `acks annotated POOL`: two threads, with PMEND_OP_BEGIN/END, whose operations overlap, then one alone that ends before it is durable.
 * `acks crowd POOL`: the same with more threads, each with a number of its own, and none alone. `acks throng POOL`: all store before one of them makes it durable.
 * `acks never POOL`: two operations set one number, and neither flushes it; `acks both POOL`: both do.
 * `acks reused POOL`: removes a link without a flush, and links what it led to again, with another content that is not fenced. `acks linked POOL`: prints that.
 * `acks buffered POOL`: operations that a sync makes durable, in one line, so a crash leaves those of the beginning; `acks unsynced POOL`: the sync does not; `acks unordered POOL`:
 * they are in two lines. `acks pair POOL`, `acks lines POOL`: print that.
 * `acks early POOL`, `acks late POOL`: prints that number. */
#include <pthread.h>
#include <stdbool.h>

#include "pm.h"

#define NOPS 3
#define CROWD 14 /* threads; 13 operations that may be lost are too many */

struct pool {
	_Alignas(64) uint64_t early;
	_Alignas(64) uint64_t late;
	_Alignas(64) struct { _Alignas(64) uint64_t n; } crowd[CROWD];
	_Alignas(64) uint64_t pair[2]; /* behind the numbers of the crowd */
	_Alignas(64) uint64_t beside; /* nobody asks for it: that it survives, or not, explains nothing */
};

static void say(const char *line)
{
	CHECK(write(STDOUT_FILENO, line, strlen(line)) == (ssize_t)strlen(line)); /* BUG: early: ordering acknowledged */
}

static void run(struct pool *p)
{
	for (int i = 0; i < NOPS; i++) {
		p->early++; /* BUG: early: ordering lost */
		say("early\n");
		persist(&p->early, sizeof p->early);
	}
	for (int i = 0; i < NOPS; i++) {
		p->late++;
		persist(&p->late, sizeof p->late);
		say("late\n");
	}
}

static pthread_barrier_t g_all;
static bool g_is_throng;

/* Each thread's number; both are in flight at once, and each may end first. */
static void *count(void *number)
{
	for (int i = 0; i < NOPS; i++) {
		PMEND_OP_BEGIN("count");
		pthread_barrier_wait(&g_all);
		++*(uint64_t *)number;
		if (g_is_throng)
			pthread_barrier_wait(&g_all);
		persist(number, sizeof(uint64_t));
		pthread_barrier_wait(&g_all);
		PMEND_OP_END("count");
		pthread_barrier_wait(&g_all);
	}
	return NULL;
}

static void run_annotated(struct pool *p)
{
	pthread_t other;

	pthread_barrier_init(&g_all, NULL, 2);
	CHECK(pthread_create(&other, NULL, count, &p->late) == 0);
	count(&p->early);
	CHECK(pthread_join(other, NULL) == 0);
	PMEND_OP_BEGIN("alone");
	p->early++;		/* BUG: alone: ordering lost */
	p->beside++;
	PMEND_OP_END("alone");	/* BUG: alone: ordering acknowledged */
	persist(&p->early, sizeof p->early);
	persist(&p->beside, sizeof p->beside);
}

static void run_crowd(struct pool *p)
{
	pthread_t threads[CROWD];

	pthread_barrier_init(&g_all, NULL, CROWD);
	for (int i = 0; i < CROWD; i++)
		CHECK(pthread_create(&threads[i], NULL, count, &p->crowd[i].n) == 0);
	for (int i = 0; i < CROWD; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

/* If the first one is lost, the second one is, too. */
static void run_twice(struct pool *p, bool is_durable)
{
	PMEND_OP_BEGIN("one");
	p->early = 1;		/* BUG: one: ordering lost */
	if (is_durable)
		persist(&p->early, sizeof p->early);
	PMEND_OP_END("one");	/* BUG: one: ordering acknowledged */
	PMEND_OP_BEGIN("two");
	p->early = 2;		/* BUG: two: missing-flush lost */
	if (is_durable)
		persist(&p->early, sizeof p->early);
	PMEND_OP_END("two");	/* BUG: two: missing-flush acknowledged */
}

/* A link that was not removed looks like the new one. */
static void run_reused(struct pool *p)
{
	p->late = 3;
	persist(&p->late, sizeof p->late);
	p->early = 1;
	persist(&p->early, sizeof p->early);
	PMEND_OP_BEGIN("remove");
	p->early = 0;		/* BUG: remove: ordering lost */
	PMEND_OP_END("remove");	/* BUG: remove: ordering acknowledged */
	PMEND_OP_BEGIN("insert");
	p->late = 7;		/* BUG: insert: ordering lost */ /* BUG: remove: ordering lost */
	flush(&p->late, sizeof p->late);
	p->early = 1;		/* BUG: insert: ordering survived */
	persist(&p->early, sizeof p->early);
	PMEND_OP_END("insert");
}

/* A sync makes durable what was acknowledged before it. */
static void run_buffered(uint64_t *first, uint64_t *second, bool is_synced)
{
	for (int i = 1; i <= 3; i++) {
		PMEND_OP_BEGIN("first");
		*(volatile uint64_t *)first = (uint64_t)i;
		PMEND_OP_END("first");
		PMEND_OP_BEGIN("second");
		*(volatile uint64_t *)second = (uint64_t)i;
		PMEND_OP_END("second");
		if (i == 2)
			continue;
		PMEND_OP_BEGIN("sync");
		if (is_synced) {
			flush(first, sizeof *first);
			flush(second, sizeof *second);
		}
		fence();
		PMEND_OP_END("sync");
	}
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "annotated") == 0 || strcmp(argv[1], "crowd") == 0 || strcmp(argv[1], "throng") == 0) {
		g_is_throng = argv[1][0] == 't';
		p = pool_create(argv[2], sizeof *p);
		(argv[1][0] == 'r' ? run : argv[1][0] == 'a' ? run_annotated : run_crowd)(p);
		return 0;
	}
	if (strcmp(argv[1], "never") == 0 || strcmp(argv[1], "both") == 0) {
		run_twice(pool_create(argv[2], sizeof *p), argv[1][0] == 'b');
		return 0;
	}
	if (strcmp(argv[1], "reused") == 0) {
		run_reused(pool_create(argv[2], sizeof *p));
		return 0;
	}
	if (strcmp(argv[1], "buffered") == 0 || argv[1][0] == 'u') {
		p = pool_create(argv[2], sizeof *p);
		if (strcmp(argv[1], "unordered") == 0)
			run_buffered(&p->early, &p->late, true);
		else
			run_buffered(&p->pair[0], &p->pair[1], argv[1][0] == 'b');
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (strcmp(argv[1], "pair") == 0 || strcmp(argv[1], "lines") == 0) {
		const bool is_pair = argv[1][0] == 'p';

		printf("%d %d\n", !p ? 0 : (int)(is_pair ? p->pair[0] : p->early), !p ? 0 : (int)(is_pair ? p->pair[1] : p->late));
		return 0;
	}
	if (strcmp(argv[1], "linked") == 0) {
		printf("%d\n", p && p->early ? (int)p->late : 0);
		return 0;
	}
	printf("%d\n", !p ? 0 : argv[1][0] == 'e' ? (int)p->early : (int)p->late);
	return 0;
}
