/* What the programs of this folder share: a pool, flushes, and a checker's ways to end. run.py says how expectations are marked. */
#ifndef PM_H
#define PM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmend.h"
#include "tests/machine.h"

#define LINE_BYTES 64

#define CHECK(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))

static inline void failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
	exit(1);
}

static inline void flush(const void *addr, size_t len_bytes)
{
	uintptr_t line = (uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1);

	for (; line < (uintptr_t)addr + len_bytes; line += LINE_BYTES)
		flush_line(line);
}

static inline void persist(const void *addr, size_t len_bytes)
{
	flush(addr, len_bytes);
	fence();
}

static inline void *pool_create(const char *path, size_t len_bytes)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	void *pool;

	CHECK(fd >= 0 && ftruncate(fd, (off_t)len_bytes) == 0);
	pool = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(pool != MAP_FAILED);
	close(fd);
	return pool;
}

/* NULL if there is no pool yet, or it has no size yet. */
static inline void *pool_open(const char *path, size_t len_bytes)
{
	int fd = open(path, O_RDWR);
	struct stat st;
	void *pool;

	if (fd < 0) {
		CHECK(errno == ENOENT);
		return NULL;
	}
	CHECK(fstat(fd, &st) == 0);
	if ((size_t)st.st_size < len_bytes) {
		close(fd);
		return NULL;
	}
	pool = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(pool != MAP_FAILED);
	close(fd);
	return pool;
}

#endif
