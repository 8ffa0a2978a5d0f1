/* A server: each thread answers the requests of one client, which wait in its socket from the beginning. A request is a key from a to d: a capital
 * letter adds to its value, a small one asks for it. Broken: a value is shown to others before it is durable. Only a client can tell. */
#include <sys/socket.h>

#include "threads.h"

#define KEYS 4
#define ROUNDS 3

struct pool {
	struct {
		_Alignas(64) uint64_t value;
	} keys[KEYS];
};

static pthread_mutex_t g_locks[KEYS];
static int g_sockets[THREADS_MAX][2];

static void answer(int fd, uint64_t value)
{
	char text[32];
	const int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)value);

	CHECK(write(fd, text, (size_t)n) == n);
}

static void add(struct pool *p, int fd, int key)
{
	uint64_t *value = &p->keys[key].value;
	uint64_t sum;

	pthread_mutex_lock(&g_locks[key]);
	sum = *value + 1000;
	ONCE(*value) = sum; /* BUG */
	if (!IS_BROKEN)
		persist(value, sizeof *value);
	pthread_mutex_unlock(&g_locks[key]);
	if (IS_BROKEN)
		persist(value, sizeof *value);
	answer(fd, sum);
}

static void get(struct pool *p, int fd, int key)
{
	uint64_t value;

	pthread_mutex_lock(&g_locks[key]);
	value = ONCE(p->keys[key].value);
	pthread_mutex_unlock(&g_locks[key]);
	answer(fd, value);
}

static void prepare(void *pool, int nthreads)
{
	(void)pool;
	for (int i = 0; i < KEYS; i++)
		pthread_mutex_init(&g_locks[i], NULL);
	for (int i = 0; i < nthreads; i++) {
		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, g_sockets[i]) == 0);
		for (int k = 0; k < ROUNDS; k++) {
			const char asked[2] = { (char)('A' + (i + k) % KEYS), (char)('a' + (i + k + 1) % KEYS) };

			CHECK(write(g_sockets[i][1], asked, 2) == 2);
		}
		CHECK(shutdown(g_sockets[i][1], SHUT_WR) == 0);
	}
}

static void work(void *pool, int who, int nthreads)
{
	const int fd = g_sockets[who][0];
	char asked;

	(void)nthreads;
	while (read(fd, &asked, 1) == 1)
		if (asked >= 'a')
			get(pool, fd, asked - 'a');
		else
			add(pool, fd, asked - 'A');
}

static void check(void *pool)
{
	const struct pool *p = pool;

	for (int i = 0; i < KEYS; i++)
		CHECK(p->keys[i].value % 1000 == 0);
}

static void dump(void *pool)
{
	const struct pool *p = pool;

	for (int i = 0; i < KEYS; i++)
		printf("%c %d\n", 'a' + i, (int)p->keys[i].value);
}

int main(int argc, char **argv)
{
	return program_main(&(struct program){ .pool_bytes = sizeof(struct pool), .prepare = prepare, .work = work, .check = check, .dump = dump }, argc,
			    argv);
}
