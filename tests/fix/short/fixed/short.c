/* Helpers that flush less than they are given, each in another way; the calls are right. fixed/ has them mended. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define CACHE_LINE 64

struct record {
	_Alignas(64) uint64_t head;
	uint64_t words[26];
};

struct pool {
	uint64_t flag, none[7];
	struct record records[2];
	char text[1024];
};

static unsigned nflushes;

static void flush_one(const void *line)
{
	flush_line(line);
}

/* The pointer never advances. */
static __attribute__((noinline)) void flush_stuck(const void *addr, size_t len)
{
	const char *line = (const char *)((uintptr_t)addr & ~(uintptr_t)(CACHE_LINE - 1));

	nflushes++;
	for (; line < (const char *)addr + len; line += CACHE_LINE)
		flush_one(line);
	fence();
}

/* The end is rounded down. */
static __attribute__((noinline)) void flush_down(const char *from, size_t len)
{
	uintptr_t line = (uintptr_t)from & ~(uintptr_t)(CACHE_LINE - 1);

	for (; line < (uintptr_t)from + len; line += CACHE_LINE)
		flush_line(line);
}

/* The first line only. */
static __attribute__((noinline)) void flush_begin(char *addr, int len)
{
	char *line = (char *)((uintptr_t)addr & ~(uintptr_t)63);

	for (; line < (char *)addr + len; line += 64)
		flush_line(line);
}

/* What else it does cannot be taken apart from what it flushes. */
static __attribute__((noinline)) size_t flush_counted(const void *addr, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i + 64 < len; i += 64, n++)
		flush_one((const char *)addr + i);
	return n;
}

static void set(struct record *r, uint64_t n)
{
	r->head = n;
	r->words[10] = n + 1;
	r->words[25] = n + 2;
	flush_stuck(r, sizeof *r);
}

static void copy(struct record *r, const struct record *from)
{
	memcpy(r, from, sizeof *r);
	nflushes += flush_counted(r, sizeof *r);
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
	struct pool *p = ftruncate(fd, 4096) ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char from[300];

	if (p == MAP_FAILED)
		return 2;
	memset(from, 'x', sizeof from);
	set(&p->records[0], 1);
	copy(&p->records[1], &p->records[0]);
	memcpy(p->text, from, 200);
	flush_down(p->text, 200);
	memcpy(p->text + 256, from, 130);
	flush_down(p->text + 256, 130);
	memcpy(p->text + 512, from, sizeof from);
	flush_begin(p->text + 512, sizeof from);
	memcpy(p->text + 896, from, 100);
	flush_begin(p->text + 896, 100);
	fence();
	p->flag = 1;
	flush_line(&p->flag);
	fence();
	printf("done\n");
	return 0;
}
