/* What the parsers of this folder share: a pool, and making PM durable. Each has one bug, a store that is not made durable behind two conditions on the input. Built
 * with -DCORRECT, it has none. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

static void persist(const void *addr, size_t len)
{
	for (uintptr_t at = (uintptr_t)addr & ~(uintptr_t)63; at < (uintptr_t)addr + len; at += 64)
		flush_line((void *)at);
	fence();
}

/* Makes the bytes durable, unless the bug is built in. */
static void persist_if_correct(const void *addr, size_t len)
{
#ifdef CORRECT
	persist(addr, len);
#else
	(void)addr;
	(void)len;
#endif
}

static void *pool_open(const char *path, size_t len)
{
	int fd = path ? open(path, O_RDWR | O_CREAT, 0666) : -1;
	void *at;

	if (fd < 0 || ftruncate(fd, (off_t)len) < 0)
		exit(2);
	at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		exit(2);
	close(fd);
	return at;
}
