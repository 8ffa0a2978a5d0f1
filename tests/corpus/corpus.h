/* What the programs of this folder share. A program maps a pool (its only argument) and runs cases one after another, each
 * in a thread of its own and on memory of its own, so that no case's fence completes the flushes of another.
 * run.py says how expectations are marked. */
#ifndef CORPUS_H
#define CORPUS_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmend.h"
#include "tests/machine.h"

#define LINE_BYTES 64
#define POOL_BYTES (64 * 1024)

/* What a case works on: a and b share a line, every other field has its own. */
struct pm {
	_Alignas(64) uint64_t a;
	uint64_t b;
	_Alignas(64) uint64_t c;
	_Alignas(64) uint64_t d;
	_Alignas(64) char text[320];
};

#define CHECK(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))

static inline void failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
	abort();
}

static inline void *pool_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	void *pool;

	CHECK(fd >= 0 && ftruncate(fd, POOL_BYTES) == 0);
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(pool != MAP_FAILED);
	close(fd);
	return pool;
}

/* The first cache line in memory that an allocator returned. */
static inline void *align(void *addr)
{
	return (void *)(((uintptr_t)addr + LINE_BYTES - 1) & ~(uintptr_t)(LINE_BYTES - 1));
}

static inline void persist(const void *addr, size_t len_bytes)
{
	uintptr_t line = (uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1);

	for (; line < (uintptr_t)addr + len_bytes; line += LINE_BYTES)
		flush_line(line);
	fence();
}

struct work {
	void (*run)(struct pm *p);
	struct pm *p;
};

static inline void *work_thread(void *arg)
{
	struct work *w = arg;

	w->run(w->p);
	return NULL;
}

static inline void work_start(pthread_t *thread, struct work *w)
{
	CHECK(pthread_create(thread, NULL, work_thread, w) == 0);
}

/* Runs the next case on the next part of the pool, in a thread of its own. */
static inline void run_case(struct pm **next, void (*run)(struct pm *p))
{
	struct work w = { run, (*next)++ };
	pthread_t thread;

	work_start(&thread, &w);
	CHECK(pthread_join(thread, NULL) == 0);
}

#define RUN_CASES(argv, ...) run_cases((argv)[1], (void (*const[])(struct pm *)){ __VA_ARGS__, NULL })

static inline int run_cases(const char *path, void (*const *cases)(struct pm *p))
{
	struct pm *next = pool_map(path);

	while (*cases)
		run_case(&next, *cases++);
	return 0;
}

#endif
