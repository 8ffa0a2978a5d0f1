/* A thread stores and persists, and another one loads later. Usage: FILE HOW. What keeps the two apart in any interleaving is
 * HOW: nothing (`early`: the lock is released before the store is persisted), or `lock`, `post`, `join`, `read`. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

struct pool {
	_Alignas(64) uint64_t value;
	_Alignas(64) uint64_t is_there;
};

static volatile struct pool *g_pool;
static const char *g_how;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t g_sem;
static _Atomic int g_is_done; /* keeps them apart in this run; nobody records it */
static uint64_t g_seen;

static int is(const char *how)
{
	return strcmp(g_how, how) == 0;
}

static void persist(volatile void *addr)
{
	flush_line(addr);
	fence();
}

static void *store(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&g_lock);
	g_pool->value = 1000;
	if (!is("lock"))
		pthread_mutex_unlock(&g_lock);
	persist(&g_pool->value);
	if (is("lock"))
		pthread_mutex_unlock(&g_lock);
	if (is("post"))
		sem_post(&g_sem);
	g_pool->is_there = 1;
	persist(&g_pool->is_there);
	g_is_done = 1;
	return NULL;
}

static void *load(void *arg)
{
	(void)arg;
	while (!g_is_done)
		spin_hint();
	if (is("post"))
		sem_wait(&g_sem);
	if (is("read") && !g_pool->is_there)
		return NULL;
	pthread_mutex_lock(&g_lock);
	g_seen = g_pool->value;
	pthread_mutex_unlock(&g_lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t first, second;
	int fd;

	if (argc != 3)
		return 2;
	g_how = argv[2];
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *g_pool) < 0)
		return 1;
	g_pool = mmap(NULL, sizeof *g_pool, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (g_pool == MAP_FAILED)
		return 1;
	sem_init(&g_sem, 0, 0);
	pthread_create(&first, NULL, store, NULL);
	if (is("join"))
		pthread_join(first, NULL);
	pthread_create(&second, NULL, load, NULL);
	if (!is("join"))
		pthread_join(first, NULL);
	pthread_join(second, NULL);
	return g_seen == 1000 ? 0 : 1;
}
