/* nvm.c - files of persistent memory, mapped */
#include "nvm.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#pragma GCC target("clwb")
#include <immintrin.h>
#endif

struct nvm_map {
	void *addr;
	size_t size;
	enum nvm_granularity granularity;
};

static void flush_none(const void *p, size_t n)
{
	(void)p;
	(void)n;
}

static void flush_lines(const void *p, size_t n)
{
	uintptr_t line = (uintptr_t)p & ~(uintptr_t)63, end = (uintptr_t)p + n;

	for (; line < end; line += 64)
#if defined(__aarch64__)
		__asm__ volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
#else
		_mm_clwb((void *)line);
#endif
}

static void drain(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dsb ish" : : : "memory");
#else
	_mm_sfence();
#endif
}

static void persist_byte(const void *p, size_t n)
{
	flush_none(p, n);
	drain();
}

static void persist_line(const void *p, size_t n)
{
	flush_lines(p, n);
	drain();
}

static void *memcpy_byte(void *dst, const void *src, size_t n, unsigned flags)
{
	memcpy(dst, src, n);
	if (!(flags & NVM_F_NODRAIN))
		drain();
	return dst;
}

static void *memcpy_line(void *dst, const void *src, size_t n, unsigned flags)
{
	memcpy(dst, src, n);
	flush_lines(dst, n);
	if (!(flags & NVM_F_NODRAIN))
		drain();
	return dst;
}

int nvm_map_new(struct nvm_map **map, const char *path, size_t size, int create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct stat st;
	void *addr;

	if (fd < 0)
		return create ? -1 : 1;
	if ((create && ftruncate(fd, (off_t)size) != 0) || fstat(fd, &st) != 0) {
		close(fd);
		return -1;
	}
	if ((size_t)st.st_size < size) {
		close(fd);
		return 1;
	}
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (addr == MAP_FAILED)
		return -1;
	*map = malloc(sizeof(**map));
	if (!*map) {
		munmap(addr, size);
		return -1;
	}
	(*map)->addr = addr;
	(*map)->size = size;
	(*map)->granularity = getenv("NVM_EADR") ? NVM_GRANULARITY_BYTE : NVM_GRANULARITY_LINE;
	return 0;
}

void nvm_map_delete(struct nvm_map **map)
{
	munmap((*map)->addr, (*map)->size);
	free(*map);
	*map = NULL;
}

void *nvm_map_get_address(const struct nvm_map *map)
{
	return map->addr;
}

nvm_persist_fn nvm_get_persist_fn(const struct nvm_map *map)
{
	return map->granularity == NVM_GRANULARITY_LINE ? persist_line : persist_byte;
}

nvm_flush_fn nvm_get_flush_fn(const struct nvm_map *map)
{
	return map->granularity == NVM_GRANULARITY_LINE ? flush_lines : flush_none;
}

nvm_drain_fn nvm_get_drain_fn(const struct nvm_map *map)
{
	(void)map;
	return drain;
}

nvm_memcpy_fn nvm_get_memcpy_fn(const struct nvm_map *map)
{
	return map->granularity == NVM_GRANULARITY_LINE ? memcpy_line : memcpy_byte;
}
