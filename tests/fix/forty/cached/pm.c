#include "pm.h"

#ifdef WITH_PM
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CACHELINE 64

static bool pending; /* something was flushed since the last drain */

void *pm_attach(const char *path, size_t size)
{
	void *base = NULL;
	int fd;

	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0) {
		perror(path);
		return NULL;
	}
	if (ftruncate(fd, size) != 0) {
		perror("ftruncate");
		goto out;
	}
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		perror("mmap");
		base = NULL;
	}
out:
	close(fd);
	return base;
}

void pm_flush(const void *addr, size_t len)
{
	uintptr_t p = (uintptr_t)addr & ~(uintptr_t)(CACHELINE - 1);

	for (; p < (uintptr_t)addr + len; p += CACHELINE)
#if defined(__aarch64__)
		__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(p) : "memory");
#else
		__asm__ volatile("clwb %0" : "+m"(*(volatile char *)p) : : "memory");
#endif
	pending = true;
}

/* Requests that only read have nothing to wait for. */
void pm_drain(void)
{
	if (!pending)
		return;
	pending = false;
#if defined(__aarch64__)
	__asm__ volatile("dsb ish" : : : "memory");
#else
	__asm__ volatile("sfence" : : : "memory");
#endif
}
#endif
