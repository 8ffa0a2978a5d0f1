/* The frame of the programs in this folder: threads that share data in persistent memory, each with a check that a crash has lost nothing that
 * something durable rests on. Built twice: as it stands, correct; and with -DBROKEN, where the stores marked BUG are durable too late.
 *
 *	PROGRAM POOL run [NTHREADS]     works on the pool, which it makes; 4 threads if nothing else is said
 *	PROGRAM POOL check              is the recovery: status 1 and a line if the data are wrong
 *	PROGRAM POOL dump               prints what a client would see (server.c) */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tests/crash/pm.h"

#define THREADS_MAX 16

#ifdef BROKEN
#define IS_BROKEN true
#else
#define IS_BROKEN false
#endif

struct program {
	size_t pool_bytes;
	/* NULL: nothing to prepare */
	void (*prepare)(void *pool, int nthreads);
	/* each thread: who is from 0 */
	void (*work)(void *pool, int who, int nthreads);
	void (*check)(void *pool);
	void (*dump)(void *pool);
	/* NULL: the pool is a mapped file */
	void *(*create)(const char *path);
	void *(*open)(const char *path);
	void (*close)(void *pool);
};

/* One load or store, whatever the compiler thinks. */
#define ONCE(word) (*(volatile uint64_t *)&(word))

struct job {
	const struct program *program;
	void *pool;
	int who, nthreads;
};

static void *job_run(void *arg)
{
	const struct job *j = arg;

	j->program->work(j->pool, j->who, j->nthreads);
	return NULL;
}

static inline void threads_run(const struct program *p, void *pool, int nthreads)
{
	struct job jobs[THREADS_MAX];
	pthread_t threads[THREADS_MAX];

	for (int i = 0; i < nthreads; i++) {
		jobs[i] = (struct job){ p, pool, i, nthreads };
		CHECK(pthread_create(&threads[i], NULL, job_run, &jobs[i]) == 0);
	}
	for (int i = 0; i < nthreads; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static inline int program_main(const struct program *p, int argc, char **argv)
{
	const int nthreads = argc > 3 ? atoi(argv[3]) : 4;
	const char *what = argc > 2 ? argv[2] : "";
	void *pool;

	if (nthreads < 1 || nthreads > THREADS_MAX)
		return 2;
	if (strcmp(what, "run") == 0) {
		pool = p->create ? p->create(argv[1]) : pool_create(argv[1], p->pool_bytes);
		if (p->prepare)
			p->prepare(pool, nthreads);
		threads_run(p, pool, nthreads);
	} else if (strcmp(what, "check") == 0 || (strcmp(what, "dump") == 0 && p->dump)) {
		pool = p->open ? p->open(argv[1]) : pool_open(argv[1], p->pool_bytes);
		if (pool)
			(*what == 'c' ? p->check : p->dump)(pool);
	} else {
		return 2;
	}
	if (pool && p->close)
		p->close(pool);
	return 0;
}

#endif
