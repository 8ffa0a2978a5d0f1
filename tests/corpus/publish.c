/* Fences that have nothing to complete. Where other threads run, they may be what orders volatile
 * memory, as in RCU: the finding is only a warning then. */
#include "corpus.h"

struct node {
	uint64_t key, value;
};

static _Atomic(struct node *) g_shown; /* in volatile memory */
static _Atomic int g_nreaders, g_is_over;

/* The node is whole before anybody can see it. The fence is needed, but not for p. */
static void publish(struct pm *p)
{
	static struct node nodes[4];

	while (g_nreaders == 0)
		spin_hint();
	for (uint64_t i = 0; i < 4; i++) {
		p->a = i;
		persist(&p->a, sizeof p->a);
		nodes[i] = (struct node){ i, i };
		fence(); /* WARNING: redundant-fence */
		atomic_store_explicit(&g_shown, &nodes[i], memory_order_relaxed);
	}
	g_is_over = 1;
}

static void read_nodes(struct pm *p)
{
	(void)p;
	g_nreaders++;
	while (!g_is_over) {
		const struct node *n = g_shown;

		CHECK(!n || n->key == n->value);
		spin_hint();
	}
}

/* Nobody else is there: it costs time. */
static void fence_alone(struct pm *p)
{
	p->c = 1;
	persist(&p->c, sizeof p->c);
	fence(); /* BUG: redundant-fence */
}

/* The same function, with and without others: whoever removes the fence removes both. */
static void fence_sometimes(struct pm *p)
{
	p->d = 1;
	persist(&p->d, sizeof p->d);
	fence(); /* WARNING: redundant-fence */
}

int main(int argc, char **argv)
{
	struct work writer = { publish, NULL }, reader = { read_nodes, NULL };
	pthread_t threads[2];
	struct pm *next;

	CHECK(argc == 2);
	next = pool_map(argv[1]);
	fence_alone(next);
	fence_sometimes(next++);
	writer.p = reader.p = next++;
	work_start(&threads[0], &writer);
	work_start(&threads[1], &reader);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	run_case(&next, fence_sometimes);
	return 0;
}
