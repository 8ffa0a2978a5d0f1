/* A flush belongs to the thread that issued it: another thread's fence completes nothing. */
#include "corpus.h"

/* The threads take turns by spinning on acquiring loads and releasing stores: neither completes a flush. */
static _Atomic int g_turn;

static void wait_for(int turn)
{
	while (atomic_load_explicit(&g_turn, memory_order_acquire) != turn)
		spin_hint();
}

static void pass_to(int turn)
{
	atomic_store_explicit(&g_turn, turn, memory_order_release);
}

/* p->a: flushed here, fenced only there. p->c: flushed and fenced there. p->d: stored there, persisted here. */
static void first(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	p->c = 2;
	flush_line(&p->a);
	pass_to(1);
	wait_for(2);
	flush_line(&p->d);
	pass_to(3);
}

static void second(struct pm *p)
{
	wait_for(1);
	flush_line(&p->c);
	fence();
	p->d = 3; /* BUG: missing-fence */
	pass_to(2);
	wait_for(3);
	memset(p->text, 1, LINE_BYTES);
	flush_line(p->text);
	fence();
}

/* Four threads that do it right at the same time. */
static void busy(struct pm *p)
{
	for (int i = 0; i < 20; i++) {
		p->a = (uint64_t)i;
		flush_line(&p->a);
		fence();
		p->c = (uint64_t)i;
		flush_line(&p->c);
		fence();
	}
}

/* One of them does not: the others' fences do not help it. */
static void careless(struct pm *p)
{
	for (int i = 0; i < 20; i++) {
		*(volatile uint64_t *)&p->a = (uint64_t)i; /* BUG: missing-flush-fence */
	}
}

int main(int argc, char **argv)
{
	void (*const jobs[])(struct pm *) = { first, second, busy, busy, careless, busy };
	pthread_t threads[6];
	struct work work[6];
	struct pm *p;

	CHECK(argc == 2);
	p = pool_map(argv[1]);
	for (int i = 0; i < 6; i++) {
		work[i] = (struct work){ jobs[i], i < 2 ? p : p + i };
		work_start(&threads[i], &work[i]);
	}
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
