/* A pool file that begins with a magic word, the last thing that its creation stores. A pool
 * without it is incomplete, whatever else is in the file: its creation was interrupted and begins
 * again. Maps it, and flushes without a library. */
#ifndef RAW_H
#define RAW_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"
#include "machine.h"

#define LINE_BYTES 64

enum pool_state { POOL_NONE, POOL_SIZED, POOL_DAMAGED };

/* Can the file be mapped as a pool? The caller then checks the magic word. */
static inline enum pool_state pool_state(const char *path, uint64_t magic, size_t pool_bytes, const char **why)
{
	int fd = open(path, O_RDONLY);
	uint64_t found = 0;
	struct stat st;

	if (fd < 0) {
		if (errno == ENOENT)
			return POOL_NONE;
		*why = "the pool cannot be opened";
		return POOL_DAMAGED;
	}
	if (fstat(fd, &st) != 0)
		die("fstat");
	if ((size_t)st.st_size != pool_bytes && pread(fd, &found, sizeof found, 0) == sizeof found && found == magic)
		*why = "the file has been cut off";
	close(fd);
	if (*why)
		return POOL_DAMAGED;
	return (size_t)st.st_size == pool_bytes ? POOL_SIZED : POOL_NONE;
}

static inline void *pool_map(const char *path, size_t pool_bytes)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	struct stat st;
	void *base;

	if (fd < 0 || fstat(fd, &st) != 0)
		die(path);
	if ((size_t)st.st_size != pool_bytes && (ftruncate(fd, (off_t)pool_bytes) != 0 || fsync(fd) != 0))
		die("cannot set the pool's size");
	base = mmap(NULL, pool_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		die("cannot map the pool");
	close(fd);
	return base;
}

/* A store that no crash can tear, and that the compiler keeps after earlier ones. */
static inline void store64(uint64_t *addr, uint64_t value)
{
	__atomic_store_n(addr, value, __ATOMIC_RELEASE);
}

static inline void pm_flush(const void *addr, size_t len_bytes)
{
	uintptr_t line = (uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1), end = (uintptr_t)addr + len_bytes;

	for (; line < end; line += LINE_BYTES)
		flush_line(line);
}

static inline void pm_drain(void)
{
	fence();
}

#endif
