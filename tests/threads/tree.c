/* A search tree whose versions are published as with RCU: a writer copies the path, makes it durable, and replaces the root. Readers take no lock.
 * Those that only read need not care; those that note a version make the root durable before. Broken: these do not. */
#include "threads.h"

#define ROUNDS 3
#define NODES 1024

struct node {
	_Alignas(64) uint64_t key;
	uint64_t left, right; /* numbers of nodes; 0: none */
};

struct version {
	_Alignas(64) uint64_t number;
	uint64_t top;
};

struct pool {
	_Alignas(64) uint64_t root; /* number of a version; 0: the empty tree */
	struct {
		_Alignas(64) uint64_t number;
	} seen[THREADS_MAX];
	struct version versions[THREADS_MAX * ROUNDS + 1];
	struct node nodes[NODES];
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t g_nnodes; /* that are used; nothing is freed */

static uint64_t copy_with(struct pool *p, uint64_t old, uint64_t key)
{
	const uint64_t number = ++g_nnodes;
	struct node *n = &p->nodes[number];

	CHECK(number < NODES);
	*n = old ? p->nodes[old] : (struct node){ .key = key };
	if (key < n->key)
		n->left = copy_with(p, n->left, key);
	else if (key > n->key)
		n->right = copy_with(p, n->right, key);
	flush(n, sizeof *n);
	return number;
}

static void insert(struct pool *p, uint64_t key)
{
	struct version *v;

	pthread_mutex_lock(&g_lock);
	v = &p->versions[p->root + 1];
	v->top = copy_with(p, p->versions[p->root].top, key);
	v->number = 1000 * (p->root + 1);
	persist(v, sizeof *v);
	ONCE(p->root) = p->root + 1; /* BUG */
	persist(&p->root, sizeof p->root);
	pthread_mutex_unlock(&g_lock);
}

static bool has(struct pool *p, uint64_t key)
{
	uint64_t at = p->versions[ONCE(p->root)].top;

	while (at && p->nodes[at].key != key)
		at = key < p->nodes[at].key ? p->nodes[at].left : p->nodes[at].right;
	return at;
}

static void note(struct pool *p, int who)
{
	const uint64_t root = ONCE(p->root);

	if (!IS_BROKEN)
		persist(&p->root, sizeof p->root);
	p->seen[who].number = p->versions[root].number;
	persist(&p->seen[who], sizeof p->seen[who]);
}

static void work(void *pool, int who, int nthreads)
{
	(void)nthreads;
	for (unsigned i = 0; i < ROUNDS; i++) {
		const uint64_t key = 7919 * ((unsigned)who * ROUNDS + i + 1) % 1000;

		insert(pool, key);
		CHECK(has(pool, key));
		note(pool, who);
	}
}

static uint64_t count(const struct pool *p, uint64_t at, uint64_t from, uint64_t to)
{
	const struct node *n = &p->nodes[at];

	if (!at)
		return 0;
	CHECK(at < NODES && n->key >= from && n->key < to);
	return count(p, n->left, from, n->key) + 1 + count(p, n->right, n->key + 1, to);
}

static void check(void *pool)
{
	const struct pool *p = pool;

	CHECK(count(p, p->versions[p->root].top, 0, 1000) == p->root);
	for (int i = 0; i < THREADS_MAX; i++)
		CHECK(p->seen[i].number <= p->versions[p->root].number);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .work = work, .check = check }, argc, argv);
}
