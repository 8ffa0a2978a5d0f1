/* A stack without locks. A node may lie on one whose place at the top is not durable, because its own place at the top replaces that. Broken: a
 * thread that finds a node at the top counts it, as if it were durable. */
#include "threads.h"

#define ROUNDS 3

struct node {
	_Alignas(64) uint64_t depth;
	uint64_t below; /* number of a node plus 1; 0: the bottom */
};

struct pool {
	_Alignas(64) _Atomic uint64_t top;
	struct {
		_Alignas(64) uint64_t depth;
	} seen[THREADS_MAX];
	struct node nodes[THREADS_MAX * ROUNDS];
};

static void push(struct pool *p, uint64_t number)
{
	struct node *n = &p->nodes[number];
	uint64_t top = atomic_load_explicit(&p->top, memory_order_acquire);

	do {
		n->below = top;
		n->depth = (top ? p->nodes[top - 1].depth : 0) + 1000;
		persist(n, sizeof *n);
	} while (!atomic_compare_exchange_strong(&p->top, &top, number + 1)); /* BUG */
	persist(&p->top, sizeof p->top);
}

static void count(struct pool *p, int who)
{
	const uint64_t top = atomic_load_explicit(&p->top, memory_order_acquire);

	if (!IS_BROKEN)
		persist(&p->top, sizeof p->top);
	p->seen[who].depth = top ? p->nodes[top - 1].depth : 0;
	persist(&p->seen[who], sizeof p->seen[who]);
}

static void work(void *pool, int who, int nthreads)
{
	(void)nthreads;
	for (int i = 0; i < ROUNDS; i++) {
		push(pool, (uint64_t)(who * ROUNDS + i));
		count(pool, who);
	}
}

static void check(void *pool)
{
	const struct pool *p = pool;
	uint64_t depth = 0;

	for (uint64_t at = p->top; at; at = p->nodes[at - 1].below) {
		CHECK(at <= THREADS_MAX * ROUNDS && (depth == 0 || p->nodes[at - 1].depth == depth - 1000));
		depth = p->nodes[at - 1].depth;
	}
	CHECK(depth == 1000 || depth == 0);
	for (int i = 0; i < THREADS_MAX; i++)
		CHECK(p->seen[i].depth <= (p->top ? p->nodes[p->top - 1].depth : 0));
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
