/* With --threads, calls of functions that synchronise threads are events. Each line says its own: `kind` with the flags and the
 * object's bytes, or "any". Those of the thread follow those of main. A line that begins with any may have some, or none. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#include "pmend.h"
#include "tests/recorder/expect.h"

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t g_once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t g_spin;
static pthread_barrier_t g_barrier;
static sem_t g_sem;
static mtx_t g_mtx;
static int g_has_begun, g_own;

static __attribute__((noinline)) void own_lock(int *lock)
{
	__asm__ volatile("" ::"r"(lock) : "memory");
}

static __attribute__((noinline)) void own_unlock(int *lock)
{
	__asm__ volatile("" ::"r"(lock) : "memory");
}

static void init(void)
{
}

static void *thread(void *arg)
{
	pthread_mutex_lock(&g_mutex); /* T2: lock 0 mutex */
	g_has_begun = 1;
	pthread_cond_signal(&g_cond);   /* T2: release 0 cond */
	pthread_mutex_unlock(&g_mutex); /* T2: unlock 0 mutex */
	return arg;
}

int main(int argc, char **argv)
{
	char *pool;
	pthread_t other;
	pthread_mutex_t *inside;
	struct timespec past = { 0 };

	CHECK(argc == 2);
	pool = pool_map(pool_path(argv[1], "pool"), 4096);
	inside = (pthread_mutex_t *)(pool + 128);
	pthread_mutex_init(inside, NULL);
	pthread_spin_init(&g_spin, 0);                               /* any: often the code of unlocking */
	pthread_barrier_init(&g_barrier, NULL, 1);
	sem_init(&g_sem, 0, 0);
	mtx_init(&g_mtx, mtx_plain);
	pthread_mutex_lock(inside);                                  /* T1: lock 1 mutex */
	CHECK(pthread_mutex_trylock(inside) != 0);
	pthread_mutex_unlock(inside);                                /* T1: unlock 1 mutex */
	CHECK(pthread_mutex_trylock(&g_mutex) == 0);                 /* T1: lock 0 mutex */
	CHECK(pthread_mutex_timedlock(&g_mutex, &past) != 0);
	pthread_mutex_unlock(&g_mutex);                              /* T1: unlock 0 mutex */
	pthread_rwlock_rdlock(&g_rwlock);                            /* T1: lock 2 rwlock */
	CHECK(pthread_rwlock_trywrlock(&g_rwlock) != 0);
	pthread_rwlock_unlock(&g_rwlock);                            /* T1: unlock 0 rwlock */
	pthread_rwlock_wrlock(&g_rwlock);                            /* T1: lock 0 rwlock */
	pthread_rwlock_unlock(&g_rwlock);                            /* T1: unlock 0 rwlock */
	pthread_spin_lock(&g_spin);                                  /* T1: lock 0 spin */
	pthread_spin_unlock(&g_spin);                                /* T1: unlock 0 spin */
	CHECK(sem_trywait(&g_sem) != 0);
	sem_post(&g_sem);                                            /* T1: release 0 sem */
	sem_wait(&g_sem);                                            /* T1: acquire 0 sem */
	pthread_barrier_wait(&g_barrier);                            /* T1: release 0 barrier, acquire 0 barrier */
	pthread_once(&g_once, init);                                 /* T1: acquire 0 once, release 0 once */
	mtx_lock(&g_mtx);                                            /* T1: lock 0 mutex */
	mtx_unlock(&g_mtx);                                          /* T1: unlock 0 mutex */
	own_lock(&g_own);                                            /* T1: lock 0 any */
	own_unlock(&g_own);                                          /* T1: unlock 0 any */
	PMEND_LOCK(&g_own);                                          /* T1: lock 0 any */
	PMEND_UNLOCK(&g_own);                                        /* T1: unlock 0 any */
	pthread_mutex_lock(&g_mutex);                                /* T1: lock 0 mutex */
	pthread_create(&other, NULL, thread, NULL);
	while (!g_has_begun)
		pthread_cond_wait(&g_cond, &g_mutex);                /* T1: unlock 0 mutex, lock 0 mutex, acquire 4 cond */
	pthread_mutex_unlock(&g_mutex);                              /* T1: unlock 0 mutex */
	pthread_join(other, NULL);                                   /* T1: acquire 0 any */
	printf("sizes mutex=%zu cond=%zu rwlock=%zu spin=%zu sem=%zu barrier=%zu once=%zu any=0\n", sizeof g_mutex, sizeof g_cond, sizeof g_rwlock,
	       sizeof g_spin, sizeof g_sem, sizeof g_barrier, sizeof g_once);
	return 0;
}
