/* A flush belongs to the thread that issued it: another thread's fence completes nothing. */
#include "corpus.h"

/* The threads take turns by spinning on plain loads and stores: on x86 neither fences. */
static _Atomic int g_turn;

static void wait_for(int turn)
{
	while (atomic_load_explicit(&g_turn, memory_order_acquire) != turn)
		_mm_pause();
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
	_mm_clwb(&p->a);
	pass_to(1);
	wait_for(2);
	_mm_clwb(&p->d);
	pass_to(3);
}

static void second(struct pm *p)
{
	wait_for(1);
	_mm_clwb(&p->c);
	_mm_sfence();
	p->d = 3; /* BUG: missing-fence */
	pass_to(2);
	wait_for(3);
	memset(p->text, 1, LINE_BYTES);
	_mm_clwb(p->text);
	_mm_sfence();
}

/* Four threads that do it right at the same time. */
static void busy(struct pm *p)
{
	for (int i = 0; i < 20; i++) {
		p->a = (uint64_t)i;
		_mm_clwb(&p->a);
		_mm_sfence();
		p->c = (uint64_t)i;
		_mm_clwb(&p->c);
		_mm_sfence();
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
