/* A pool in a file, without a library. */
#ifndef TESTS_RACES_PM_H
#define TESTS_RACES_PM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmend.h"
#include "tests/machine.h"

#define LINE _Alignas(64)

static inline void *pm_map(const char *path, size_t len_bytes)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	void *at;

	if (fd < 0 || ftruncate(fd, (off_t)len_bytes) != 0)
		exit(2);
	at = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		exit(2);
	close(fd);
	return at;
}

static inline void pm_flush(const volatile void *addr, size_t len_bytes)
{
	uintptr_t line = (uintptr_t)addr & ~(uintptr_t)63, end = (uintptr_t)addr + len_bytes;

	for (; line < end; line += 64)
		flush_line(line);
}

#define pm_drain() fence()

static inline void pm_persist(const volatile void *addr, size_t len_bytes)
{
	pm_flush(addr, len_bytes);
	pm_drain();
}

#endif
