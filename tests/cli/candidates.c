/* A thread stores and persists, and another one loads later. Usage: FILE HOW. What keeps the two apart in any interleaving is
 * HOW: nothing (`early`: the lock is released before the store is persisted), or `lock`, `again` (the lock is recursive), `post`, `join`, `read`. With
 * `meet`, the second thread comes in between and persists a copy; `verify` is a recovery that looks at the two. */
#define _GNU_SOURCE
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
	_Alignas(64) uint64_t copy;
};

static volatile struct pool *g_pool;
static const char *g_how;
static pthread_mutex_t g_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static sem_t g_sem;
static _Atomic int g_is_unlocked, g_is_copied;
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
	if (is("again")) {
		pthread_mutex_lock(&g_lock);
		pthread_mutex_unlock(&g_lock);
	}
	if (!is("lock") && !is("again"))
		pthread_mutex_unlock(&g_lock);
	g_is_unlocked = 1;
	while (is("meet") && !g_is_copied)
		spin_hint();
	persist(&g_pool->value);
	if (is("lock") || is("again"))
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
	while (is("meet") ? !g_is_unlocked : !g_is_done)
		spin_hint();
	if (is("post"))
		sem_wait(&g_sem);
	if (is("read") && !g_pool->is_there)
		return NULL;
	pthread_mutex_lock(&g_lock);
	g_seen = g_pool->value;
	if (is("meet")) {
		g_pool->copy = g_seen;
		persist(&g_pool->copy);
	}
	pthread_mutex_unlock(&g_lock);
	g_is_copied = 1;
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
	if (is("verify"))
		return g_pool->copy > g_pool->value;
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
