/* Commit variables with ranges: two checkpoints of which one counts, and records with a flag each, some of them stored by other threads.
 *	semantic POOL run|recover [broken]		lines marked with "broken" are reported when both are broken
 *	semantic POOL recover broken verify		fails on records that it should not have read: those marked with "failing" are left */
#include <pthread.h>

#include "pm.h"

#define NRECORDS 3

struct pool {
	LINE volatile uint64_t current; /* index of the checkpoint that counts */
	struct { LINE volatile uint64_t first; volatile uint64_t second; } checkpoints[2];
	struct {
		LINE volatile uint64_t is_ready;
		LINE volatile uint64_t data;
	} records[NRECORDS];
	LINE volatile uint64_t is_shown;
	LINE volatile uint64_t text;
};

static struct pool *g_pool;
static int g_is_broken;

static void declare(struct pool *p)
{
	PMEND_COMMIT_VAR(&p->current, sizeof p->current);
	PMEND_COMMIT_RANGE(&p->current, p->checkpoints, sizeof p->checkpoints);
	for (int i = 0; i < NRECORDS; i++) {
		PMEND_COMMIT_VAR(&p->records[i].is_ready, sizeof p->records[i].is_ready);
		PMEND_COMMIT_RANGE(&p->records[i].is_ready, &p->records[i].data, sizeof p->records[i].data);
	}
	PMEND_COMMIT_VAR(&p->is_shown, sizeof p->is_shown);
	PMEND_COMMIT_RANGE(&p->is_shown, &p->text, sizeof p->text);
}

/* ---- checkpoints: the broken one leaves a part of the version before the last ---- */

static void checkpoint(struct pool *p, uint64_t value)
{
	uint64_t next = 1 - p->current;

	p->checkpoints[next].first = value;
	if (!g_is_broken || value < 3)
		p->checkpoints[next].second = value;
	pm_persist(&p->checkpoints[next], 16);
	p->current = next;
	pm_persist(&p->current, 8);
}

static void read_checkpoint(struct pool *p)
{
	uint64_t current = p->current;

	printf("%lu ", p->checkpoints[current].first);
	printf("%lu\n", p->checkpoints[current].second); /* SEMANTIC: broken, failing */
}

/* ---- records: the broken recovery does not look at the flag ---- */

static void *put_record(void *arg)
{
	uint64_t i = (uint64_t)arg;

	g_pool->records[i].data = 10 + i;
	pm_persist(&g_pool->records[i].data, 8);
	g_pool->records[i].is_ready = 1; /* ATOMICITY: failing */
	pm_persist(&g_pool->records[i].is_ready, 8);
	return NULL;
}

static void read_records(struct pool *p, int is_verified)
{
	for (int i = 0; i < NRECORDS; i++) {
		if (!g_is_broken && !p->records[i].is_ready)
			continue;
		printf("%lu\n", p->records[i].data); /* SEMANTIC: broken */
		if (is_verified && !p->records[i].is_ready && p->records[i].data)
			exit(1);
	}
}

/* ---- the old value of the variable survives, and the broken recovery mistakes it ---- */

static void show(struct pool *p)
{
	p->text = 7;
	pm_persist(&p->text, 8);
	p->is_shown = 1;
	pm_persist(&p->is_shown, 8);
}

static void read_text(struct pool *p)
{
	if (p->is_shown == (g_is_broken ? 0 : 1))
		printf("%lu\n", p->text); /* SEMANTIC: broken, failing */
}

int main(int argc, char **argv)
{
	struct pool *p = g_pool = pm_map(argv[1], sizeof *p);
	pthread_t threads[NRECORDS];

	g_is_broken = argc > 3;
	declare(p);
	if (strcmp(argv[2], "recover") == 0) {
		read_checkpoint(p);
		read_records(p, argc > 4);
		read_text(p);
		return 0;
	}
	for (uint64_t i = 1; i <= 3; i++)
		checkpoint(p, i);
	for (uint64_t i = 1; i < NRECORDS; i++)
		if (pthread_create(&threads[i], NULL, put_record, (void *)i) != 0)
			return 2;
	put_record((void *)0);
	for (int i = 1; i < NRECORDS; i++)
		pthread_join(threads[i], NULL);
	show(p);
	return 0;
}
