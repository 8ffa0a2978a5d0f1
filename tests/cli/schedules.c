/* Threads whose mistakes need an order that a recording does not have by itself: each thread is done before the next one begins, if nobody
 * changes them. Usage: FILE STYLE broken|correct, or FILE STYLE verify, which is a recovery: it fails if something durable rests on what was lost.
 *
 *	lock      the lock is released before the store is durable
 *	publish   a list's head leads to a node before the node is durable, and another thread writes into the node
 *	queue     a job is handed to a worker before it is durable, and the worker notes that it is done
 *	cache     a writer's lock is released between the flush and the fence; readers copy
 *	seqlock   the version says "complete" before the data is durable
 *	spin      one thread waits for a plain variable, which the other one sets; nothing is wrong
 *	timed     waits whose time runs out while another thread computes; nothing is wrong
 *	missed    a wait whose time has run out when another thread signals; nothing is wrong
 *	forks     as lock, in a child
 *	child     threads wait for another process, which waits until they have tried often; nothing is wrong */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine.h"

#define ROUNDS 3

struct node {
	_Alignas(64) uint64_t value;
	uint64_t is_marked;
};

struct pool {
	_Alignas(64) uint64_t data;
	_Alignas(64) uint64_t head; /* offset of a node; 0: none */
	_Alignas(64) uint64_t copy;
	struct node nodes[ROUNDS + 1];
};

static volatile struct pool *g_pool;
static const char *g_style;
static int g_is_correct;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_has_job = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t g_cache = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic uint64_t g_version;
static uint64_t g_job;
static volatile int g_flag; /* no atomic, on purpose */

static int is(const char *style)
{
	return strcmp(g_style, style) == 0;
}

static void persist(volatile void *addr)
{
	flush_line(addr);
	fence();
}

static void copy_of(uint64_t value)
{
	g_pool->copy = value;
	persist(&g_pool->copy);
}

/* ---- lock ---- */

static void lock_store(uint64_t value)
{
	pthread_mutex_lock(&g_lock);
	g_pool->data = value; /* BUG: lock */
	if (g_is_correct)
		persist(&g_pool->data);
	pthread_mutex_unlock(&g_lock);
	if (!g_is_correct)
		persist(&g_pool->data);
}

static void lock_load(void)
{
	pthread_mutex_lock(&g_lock);
	copy_of(g_pool->data);
	pthread_mutex_unlock(&g_lock);
}

/* ---- publish ---- */

static void publish_store(uint64_t round)
{
	volatile struct node *n = &g_pool->nodes[round];

	n->value = 1000 * round;
	persist(&n->value);
	g_pool->head = (uint64_t)((char *)n - (char *)g_pool); /* BUG: publish */
	persist(&g_pool->head);
}

static void publish_load(void)
{
	const uint64_t head = g_pool->head;

	if (head == 0)
		return;
	if (g_is_correct) /* whoever follows the head makes it durable first */
		persist(&g_pool->head);
	copy_of(head);
}

/* ---- queue ---- */

static void queue_store(uint64_t value)
{
	pthread_mutex_lock(&g_lock);
	g_pool->data = value; /* BUG: queue */
	if (g_is_correct)
		persist(&g_pool->data);
	g_job = value;
	pthread_cond_signal(&g_has_job);
	pthread_mutex_unlock(&g_lock);
	if (!g_is_correct)
		persist(&g_pool->data);
}

static void queue_load(void)
{
	pthread_mutex_lock(&g_lock);
	while (g_job == 0)
		pthread_cond_wait(&g_has_job, &g_lock);
	pthread_mutex_unlock(&g_lock);
	copy_of(g_pool->data);
}

/* ---- cache ---- */

static void cache_store(uint64_t value)
{
	pthread_rwlock_wrlock(&g_cache);
	g_pool->data = value; /* BUG: cache */
	if (g_is_correct)
		persist(&g_pool->data);
	pthread_rwlock_unlock(&g_cache);
	if (!g_is_correct) {
		flush_line(&g_pool->data);
		fence();
	}
}

static void cache_load(void)
{
	pthread_rwlock_rdlock(&g_cache);
	copy_of(g_pool->data);
	pthread_rwlock_unlock(&g_cache);
}

/* ---- seqlock ---- */

static void seqlock_store(uint64_t value)
{
	atomic_fetch_add(&g_version, 1);
	g_pool->data = value; /* BUG: seqlock */
	if (g_is_correct)
		persist(&g_pool->data);
	atomic_fetch_add(&g_version, 1);
	if (!g_is_correct)
		persist(&g_pool->data);
}

static void seqlock_load(void)
{
	uint64_t before, data;

	do {
		before = atomic_load(&g_version);
		data = g_pool->data;
		atomic_thread_fence(memory_order_acquire);
	} while (before % 2 || atomic_load(&g_version) != before);
	copy_of(data);
}

/* ---- spin ---- */

static void spin_store(void)
{
	g_pool->data = 1;
	persist(&g_pool->data);
	g_flag = 1;
}

static void spin_load(void)
{
	while (!g_flag)
		continue;
	g_pool->copy = 1;
	persist(&g_pool->copy);
}

/* ---- timed, missed ---- */

/* Waits for a millisecond, or until somebody signals. */
static void timed_wait(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec = (until.tv_nsec + 1000000) % 1000000000;
	until.tv_sec += until.tv_nsec < 1000000;
	pthread_mutex_lock(&g_lock);
	pthread_cond_timedwait(&g_has_job, &g_lock, &until);
	pthread_mutex_unlock(&g_lock);
}

static void timed_store(uint64_t value)
{
	timed_wait();
	g_pool->data = value;
	persist(&g_pool->data);
}

/* Computes for longer than that. */
static void timed_load(uint64_t value)
{
	for (volatile int i = 0; i < 1000000; i++)
		continue;
	copy_of(value);
}

static void missed_load(void)
{
	usleep(50000);
	pthread_mutex_lock(&g_lock);
	pthread_cond_signal(&g_has_job);
	pthread_mutex_unlock(&g_lock);
}

/* ---- child ---- */

struct shared {
	_Atomic int tries, is_ready;
};
static struct shared *g_shared;

static pid_t child_begin(void)
{
	pid_t child;

	g_shared = mmap(NULL, sizeof *g_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = g_shared == MAP_FAILED ? -1 : fork();
	if (child != 0)
		return child;
	while (g_shared->tries < 12000)
		usleep(1000);
	g_shared->is_ready = 1;
	_exit(0);
}

static void child_wait(void)
{
	while (!g_shared->is_ready) {
		g_shared->tries++;
		sched_yield();
	}
}

/* ---- two threads ---- */

static void *store(void *arg)
{
	for (uint64_t i = 1; i <= ROUNDS; i++)
		if (is("lock") || is("forks"))
			lock_store(1000 * i);
		else if (is("publish"))
			publish_store(i);
		else if (is("queue"))
			queue_store(1000 * i);
		else if (is("cache"))
			cache_store(1000 * i);
		else if (is("seqlock"))
			seqlock_store(1000 * i);
		else if (is("timed") || is("missed"))
			timed_store(i);
		else if (is("child"))
			child_wait();
		else
			spin_store();
	return arg;
}

static void *load(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		if (is("lock") || is("forks"))
			lock_load();
		else if (is("publish"))
			publish_load();
		else if (is("queue"))
			queue_load();
		else if (is("cache"))
			cache_load();
		else if (is("seqlock"))
			seqlock_load();
		else if (is("timed"))
			timed_load(i);
		else if (is("missed"))
			missed_load();
		else if (is("child"))
			child_wait();
		else
			spin_load();
	return arg;
}

static int verify(void)
{
	return g_pool->copy > (is("publish") ? g_pool->head : g_pool->data);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	pid_t child;
	int fd;

	if (argc != 4)
		return 2;
	g_style = argv[2];
	g_is_correct = strcmp(argv[3], "correct") == 0;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *g_pool) < 0)
		return 1;
	g_pool = mmap(NULL, sizeof *g_pool, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (g_pool == MAP_FAILED)
		return 1;
	if (strcmp(argv[3], "verify") == 0)
		return verify();
	child = is("child") ? child_begin() : is("forks") ? fork() : 0;
	if (is("forks") && child != 0)
		return waitpid(child, NULL, 0) != child;
	/* the thread that may spin comes first */
	pthread_create(&threads[0], NULL, is("spin") ? load : store, NULL);
	pthread_create(&threads[1], NULL, is("spin") ? store : load, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return child > 0 && waitpid(child, NULL, 0) != child;
}
