/* Words that two threads count up, or replace, by atomic instructions. The second one does so before the
 * first has made its value durable. Recovery prints the words: whatever it finds, the program had it. Broken,
 * nobody flushes the word, or recovery prints something that was stored since.
 *	shared POOL run [broken]
 *	shared POOL recover */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "pm.h"

struct pool {
	LINE _Atomic uint64_t new;     /* begins with the 0 of the file */
	LINE _Atomic uint64_t any;     /* so does this one, which has values in no order */
	LINE _Atomic uint64_t old;     /* begins with a value that was stored */
	LINE _Atomic uint32_t half[2]; /* two counters in one word, of which nobody reads the other one */
	LINE _Atomic uint64_t never;
	LINE _Atomic uint64_t before;
	LINE volatile uint64_t since;
};

static struct pool *g_pool;
static int g_is_broken;
static sem_t g_turn[2];

static void pass(int who)
{
	sem_post(&g_turn[!who]);
	while (sem_wait(&g_turn[who]) < 0)
		;
}

static void count(int who)
{
	atomic_fetch_add(&g_pool->new, 3);
	pass(who);
	pm_persist(&g_pool->new, sizeof g_pool->new);
	pass(who);
	atomic_exchange(&g_pool->any, atomic_load(&g_pool->new) * 0x9e3779b97f4a7c15);
	pass(who);
	pm_persist(&g_pool->any, sizeof g_pool->any);
	pass(who);
	atomic_fetch_add(&g_pool->old, 1);
	pass(who);
	pm_persist(&g_pool->old, sizeof g_pool->old);
	pass(who);
	atomic_fetch_add(&g_pool->half[1], 1);
	pass(who);
	pm_persist(&g_pool->half, sizeof g_pool->half);
	pass(who);
}

static void count_wrongly(int who)
{
	atomic_fetch_add(&g_pool->never, 1);
	atomic_fetch_add(&g_pool->before, 1);
	pass(who);
	g_pool->since = g_pool->since + 1;
	pm_persist(&g_pool->since, sizeof g_pool->since);
	pass(who);
	pm_persist(&g_pool->before, sizeof g_pool->before);
	pass(who);
}

static void *work(void *arg)
{
	const int who = arg != NULL;

	while (who && sem_wait(&g_turn[who]) < 0)
		;
	for (int i = 0; i < 3; i++)
		(g_is_broken ? count_wrongly : count)(who);
	sem_post(&g_turn[!who]);
	return NULL;
}

static void recover(const struct pool *p)
{
	printf("%d\n", (int)p->new);
	printf("%d\n", (int)p->any);
	printf("%d %d\n", (int)p->old, (int)p->half[1]);
	printf("%d\n", (int)p->never); /* RACE: broken */
	printf("%d\n", (int)p->before); /* RACE: broken */
	printf("%d\n", (int)p->since); /* RACE: broken */
}

int main(int argc, char **argv)
{
	pthread_t other;

	g_pool = pm_map(argv[1], sizeof *g_pool);
	if (strcmp(argv[2], "recover") == 0) {
		recover(g_pool);
		return 0;
	}
	g_is_broken = argc > 3;
	sem_init(&g_turn[0], 0, 0);
	sem_init(&g_turn[1], 0, 0);
	g_pool->old = 100;
	g_pool->since = 5;
	atomic_store(&g_pool->half[0], 7);
	atomic_store(&g_pool->half[1], 7);
	pm_persist(g_pool, sizeof *g_pool);
	PMEND_ROI_BEGIN();
	if (pthread_create(&other, NULL, work, g_turn) != 0)
		return 2;
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
