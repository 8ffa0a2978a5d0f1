/* A server with worker threads on a hash map in persistent memory, with a lock per bucket, and its client. Every value that is put is a number.
 *
 *   served serve POOL THREADS HOW   listens on POOL.sock; each thread serves one client after the other
 *   served load POOL THREADS OPS    OPS requests by each of so many clients, to few keys
 *   served turns POOL KIND          two clients; the put to key 7 of one of them is in flight while the other one asks. KIND is
 *                                   together: it puts something else; after: the same, when the first one has its answer; get: it gets what was put
 *   served stop POOL, served dump POOL HOW
 *
 * A request is "put KEY VALUE", answered by "ok", or "get KEY", answered by the value or "none". With `marked` in HOW, requests are marked as operations. HOW is
 *   right   a value is durable before its lock is given back
 *   early   it is answered before it is durable, and durable soon
 *   shown   its lock is given back before it is durable, and it is answered when it is
 * With `log` in HOW, there is a log with a count and one lock instead; with `list`, a list per bucket, whose nodes come from a number that nobody makes durable.
 * With `waits` in HOW, only the put to key 7 is wrong, and it goes on when the other client has its answer; so each run shows the same. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "pm.h"

#define BUCKETS 8
#define SLOTS 16
#define NODES 1024
#define SLOW_KEY 7  /* of the put that waits */
#define OTHER_KEY 5 /* of the put that it waits for */

struct slot {
	_Alignas(64) uint64_t key;
	uint64_t value, is_used;
};

struct node {
	_Alignas(64) uint64_t key;
	uint64_t value;
	uint64_t next; /* number of a node plus 1 */
};

struct pool {
	struct slot map[BUCKETS][SLOTS];
	_Alignas(64) uint64_t nlogged; /* of nodes as a log */
	_Alignas(64) uint64_t nnodes;
	_Alignas(64) uint64_t heads[BUCKETS];
	struct node nodes[NODES];
};

static struct pool *g_pool;
static const char *g_how;
static pthread_mutex_t g_locks[BUCKETS];
static atomic_bool g_is_over, g_is_shown; /* what a put waits for */
static int g_listener;

static bool has(const char *word)
{
	return strstr(g_how, word) != NULL;
}

static struct sockaddr_un address_of(const char *pool)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	CHECK((size_t)snprintf(a.sun_path, sizeof a.sun_path, "%s.sock", pool) < sizeof a.sun_path);
	return a;
}

/* Reads a line without its end. False: there is none. */
static bool line_read(int fd, char *line, size_t room)
{
	const ssize_t n = read(fd, line, room - 1);

	if (n <= 0)
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	return true;
}

static void line_write(int fd, const char *line)
{
	char text[64];
	const int n = snprintf(text, sizeof text, "%s\n", line);

	CHECK(write(fd, text, (size_t)n) == n);
}

/* ---- the map ---- */

static struct slot *slot_of(uint64_t key, bool is_new)
{
	struct slot *bucket = g_pool->map[key % BUCKETS];

	for (int i = 0; i < SLOTS; i++)
		if (bucket[i].is_used ? bucket[i].key == key : is_new)
			return &bucket[i];
	return NULL;
}

static void wait_for(const atomic_bool *what)
{
	while (!atomic_load(what))
		sched_yield();
}

static void answer(int client, const char *text)
{
	line_write(client, text);
	if (has("marked"))
		PMEND_OP_END("request");
}

static pthread_mutex_t *lock_of(uint64_t key)
{
	return &g_locks[has("log") ? 0 : key % BUCKETS];
}

/* Each of these stores all but the last word so that it is durable, and gives that word. */

static uint64_t *put_map(uint64_t key, uint64_t value)
{
	struct slot *s = slot_of(key, true);

	CHECK(s);
	if (s->is_used) {
		s->value = value;
		return &s->value;
	}
	s->key = key;
	s->value = value;
	persist(s, sizeof *s);
	s->is_used = 1;
	return &s->is_used;
}

static uint64_t *put_log(uint64_t key, uint64_t value)
{
	struct node *n = &g_pool->nodes[g_pool->nlogged];

	CHECK(g_pool->nlogged < NODES);
	n->key = key;
	n->value = value;
	persist(n, sizeof *n);
	g_pool->nlogged++;
	return &g_pool->nlogged;
}

static uint64_t *put_list(uint64_t key, uint64_t value)
{
	const uint64_t number = atomic_fetch_add((_Atomic uint64_t *)&g_pool->nnodes, 1);
	struct node *n = &g_pool->nodes[number];

	CHECK(number < NODES);
	n->key = key;
	n->value = value;
	n->next = g_pool->heads[key % BUCKETS];
	persist(n, sizeof *n);
	g_pool->heads[key % BUCKETS] = number + 1;
	return &g_pool->heads[key % BUCKETS];
}

static void put(int client, uint64_t key, uint64_t value)
{
	const bool waits = has("waits") && key == SLOW_KEY, is_right = has("right") || (has("waits") && !waits),
		   is_early = has("early") && !is_right, is_shown = has("shown") && !is_right;
	uint64_t *last;

	pthread_mutex_lock(lock_of(key));
	last = (has("log") ? put_log : has("list") ? put_list : put_map)(key, value);
	/* to give a lock back, or to write, may complete a flush; so the flush comes behind it */
	if (is_right)
		persist(last, sizeof *last);
	if (is_shown)
		pthread_mutex_unlock(lock_of(key));
	if (is_early)
		answer(client, "ok");
	if (waits)
		wait_for(is_shown ? &g_is_shown : &g_is_over);
	else if (is_shown)
		usleep(3000);
	if (!is_right)
		persist(last, sizeof *last);
	if (!is_shown)
		pthread_mutex_unlock(lock_of(key));
	if (!is_early)
		answer(client, "ok");
	if (key == OTHER_KEY)
		atomic_store(&g_is_over, true);
}

/* Finds the value; NULL if there is none. */
static const uint64_t *find(uint64_t key)
{
	const struct slot *s = has("log") || has("list") ? NULL : slot_of(key, false);

	for (uint64_t i = has("log") ? g_pool->nlogged : 0; i-- > 0;)
		if (g_pool->nodes[i].key == key)
			return &g_pool->nodes[i].value;
	for (uint64_t i = has("list") ? g_pool->heads[key % BUCKETS] : 0; i > 0 && i <= NODES; i = g_pool->nodes[i - 1].next)
		if (g_pool->nodes[i - 1].key == key)
			return &g_pool->nodes[i - 1].value;
	return s ? &s->value : NULL;
}

static void get(int client, uint64_t key)
{
	char text[32] = "none";
	const uint64_t *value;

	pthread_mutex_lock(lock_of(key));
	value = find(key);
	if (value)
		snprintf(text, sizeof text, "%llu", (unsigned long long)*(const volatile uint64_t *)value);
	pthread_mutex_unlock(lock_of(key));
	answer(client, text);
	if (value && key == SLOW_KEY)
		atomic_store(&g_is_shown, true);
}

/* ---- the server ---- */

static void *serve(void *arg)
{
	unsigned long long key, value;
	char line[64];
	int client;

	while ((client = accept(g_listener, NULL, NULL)) >= 0) {
		while (line_read(client, line, sizeof line)) {
			if (has("marked"))
				PMEND_OP_BEGIN("request");
			if (sscanf(line, "put %llu %llu", &key, &value) == 2)
				put(client, key, value);
			else if (sscanf(line, "get %llu", &key) == 1)
				get(client, key);
			else
				_exit(0);
		}
		close(client);
	}
	return arg;
}

static int run_server(const char *path, int nthreads)
{
	struct sockaddr_un a = address_of(path);
	pthread_t threads[64];

	CHECK(nthreads <= 64);
	g_pool = pool_create(path, sizeof *g_pool);
	for (int i = 0; i < BUCKETS; i++)
		pthread_mutex_init(&g_locks[i], NULL);
	g_listener = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(a.sun_path);
	CHECK(bind(g_listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(g_listener, 64) == 0);
	for (int i = 0; i < nthreads; i++)
		CHECK(pthread_create(&threads[i], NULL, serve, NULL) == 0);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* ---- clients ---- */

static const char *g_path;
static int g_nops;

static int connected(void)
{
	const struct sockaddr_un a = address_of(g_path);
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) == 0);
	return fd;
}

static void ask(int fd, const char *request, char *answered, size_t room)
{
	line_write(fd, request);
	CHECK(line_read(fd, answered, room));
}

static void *load(void *arg)
{
	const unsigned who = (unsigned)(uintptr_t)arg;
	unsigned random = 12345 + who * 7919;
	char request[64], answered[64];
	const int fd = connected();

	for (int i = 0; i < g_nops; i++) {
		random = random * 1103515245 + 12345;
		if ((random >> 16) % 2)
			snprintf(request, sizeof request, "put %u %u", (random >> 18) % 5 * 3, 1000 * (who + 1) + (unsigned)i);
		else
			snprintf(request, sizeof request, "get %u", (random >> 18) % 5 * 3);
		ask(fd, request, answered, sizeof answered);
	}
	close(fd);
	return NULL;
}

static void run_load(int nthreads)
{
	pthread_t threads[64];

	CHECK(nthreads <= 64);
	for (int i = 0; i < nthreads; i++)
		CHECK(pthread_create(&threads[i], NULL, load, (void *)(uintptr_t)i) == 0);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
}

static void run_turns(const char *kind)
{
	char answered[64] = "none", text[64];
	const int a = connected(), b = connected();
	const bool is_after = strcmp(kind, "after") == 0;

	ask(b, "put 1 100", answered, sizeof answered);
	ask(a, "put 2 200", answered, sizeof answered);
	line_write(a, "put 7 700");
	if (is_after)
		CHECK(line_read(a, text, sizeof text));
	if (strcmp(kind, "get") == 0)
		do
			ask(b, "get 7", answered, sizeof answered);
		while (strcmp(answered, "none") == 0);
	else
		ask(b, "put 5 500", answered, sizeof answered);
	if (!is_after)
		CHECK(line_read(a, text, sizeof text));
	ask(a, "get 1", answered, sizeof answered);
	close(a);
	close(b);
}

static void run_dump(const char *path)
{
	g_pool = pool_open(path, sizeof *g_pool);
	for (uint64_t key = 0; g_pool && key < 64; key++) {
		const uint64_t *value = find(key);

		if (value)
			printf("%d %d\n", (int)key, (int)*value);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc >= 3);
	g_path = argv[2];
	g_how = argc > 4 ? argv[4] : argc > 3 ? argv[3] : "";
	if (strcmp(argv[1], "serve") == 0)
		return run_server(g_path, atoi(argv[3]));
	if (strcmp(argv[1], "dump") == 0)
		run_dump(g_path);
	else if (strcmp(argv[1], "stop") == 0)
		line_write(connected(), "stop");
	else if (strcmp(argv[1], "load") == 0 && argc == 5) {
		g_nops = atoi(argv[4]);
		run_load(atoi(argv[3]));
	} else if (strcmp(argv[1], "turns") == 0) {
		run_turns(argv[3]);
	}
	return 0;
}
