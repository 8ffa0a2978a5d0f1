/* Loads and stores that touch undecided lines, as compilers and libraries make them. Single instructions are in amd64/ and arm64/. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "machine.h"
#include "run.h"

#define ONES 0x0101010101010101ul

static int loads(void)
{
	char *p = map_pool();
	uint64_t a = *(volatile uint8_t *)p, b = *(volatile uint16_t *)(p + 64), c = *(volatile uint32_t *)(p + 128), d = WORD(p, 192);

	printf("%lx %lx %lx %lx at %d", a, b, c, d, (uint64_t)p == RECORDED_VA);
	return 0;
}

static int agree(void)
{
	char *p = map_pool();
	uint64_t a = WORD(p, 16), b = WORD(p, 0);

	printf("%lu %lu", a, b);
	return 0;
}

/* Bytes 0-15 and 64-71 are watched: the first read of each is listed, and none of what was written before. */
static int watched(void)
{
	char *p = map_pool();
	uint64_t a = WORD(p, 0) + WORD(p, 0), b, c;

	WORD(p, 8) = 9;
	b = WORD(p, 8);
	c = WORD(p, 64) + WORD(p, 16);
	printf("%lx %lx %lx", a, b, c);
	return 0;
}

static int twice(void)
{
	char *p = map_pool();
	uint64_t a = WORD(p, 8), b = WORD(p, 0), c = WORD(p, 8);

	printf("%lx %lx %lx", a, b, c);
	return 0;
}

static int over_line(void)
{
	char *p = map_pool();
	uint64_t a = WORD(p, 60), b = WORD(p, 4092);

	printf("%lx %lx", a, b);
	return 0;
}

static int overwritten(void)
{
	char *p = map_pool();

	WORD(p, 0) = 5;
	p[64] = 5;
	printf("%lx %lx", WORD(p, 0), WORD(p, 64));
	return 0;
}

static int three_values(void)
{
	printf("%lu", WORD(map_pool(), 0));
	return 0;
}

static int locked(void)
{
	char *p = map_pool();
	uint64_t old = 5;
	bool is_done = __atomic_compare_exchange_n((uint64_t *)p, &old, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	uint64_t before = __atomic_fetch_add((uint64_t *)(p + 8), 1, __ATOMIC_SEQ_CST);

	printf("%d %lx %lx %lx", is_done, old, before, WORD(p, 8));
	return 0;
}

static int flush(void)
{
	char *p = map_pool();

	flush_line(p);
	printf("%lx", WORD(p, 8));
	return 0;
}

static int strings(void)
{
	char *p = map_pool(), copy[300];

	memcpy(copy, p, 200);
	printf("%zu %d %d", strlen(p), memcmp(p, copy, 200) == 0, copy[0]);
	return 0;
}

/* What lies behind the end is not read. */
static int exact(void)
{
	int (*volatile compare)(const void *, const void *, size_t) = memcmp;
	void *(*volatile find)(const void *, int, size_t) = memchr;
	int (*volatile compare_text)(const char *, const char *) = strcmp;
	size_t (*volatile length)(const char *) = strlen;
	char *p = map_pool(), zeros[27] = "";

	printf("%d %zu %d %d", compare(p + 37, zeros, 27), length(p + 63), find(p + 59, 1, 5) == NULL, compare_text(p + 63, ""));
	return 0;
}

static int private_map(void)
{
	char *p = map_file("pool", PROT_READ | PROT_WRITE, MAP_PRIVATE), *q = map_pool();

	WORD(p, 0) = 7; /* copies the page: all of it is decided before */
	printf("%lx %lx %lx", WORD(p, 0), WORD(p, 64), WORD(q, 0));
	return 0;
}

static int two_maps(void)
{
	char *p = map_pool(), *q = map_pool();

	WORD(p, 0) = 3;
	printf("%lx %lx %d", WORD(q, 0), WORD(q, 8), p == q);
	return 0;
}

static int remapped(void)
{
	char *p = map_pool(), *q;

	q = mremap(p, POOL_BYTES, POOL_BYTES / 2, MREMAP_MAYMOVE);
	mprotect(q, 4096, PROT_READ);
	printf("%lx", WORD(q, 0));
	munmap(q, 4096);
	q = map_pool();
	printf(" %lx", WORD(q, 8));
	return 0;
}

/* Whatever is not read is not decided: 1,000 reads elsewhere on the same page. */
static int elsewhere(void)
{
	char *p = map_pool();
	uint64_t sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += WORD(p, 512 + i % 100 * 8);
	printf("%lu", sum);
	return 0;
}

const struct test access_tests[] = {
	{ "loads", loads, { { 0, { { 0, 8, ONES } } }, { 64, { { 0, 8, ONES } } }, { 128, { { 0, 8, ONES } } }, { 192, { { 0, 8, ONES } } } },
	  { { 0, 0, 1, 2 }, { 1, 0, 3, 2 }, { 2, 0, 15, 2 }, { 3, 0, ALL, 2 } },
	  "1 101 1010101 101010101010101 at 1", 0, 0, NULL },
	{ "agree", agree, { PAIR(0) }, { { 0, 0, ALL, 2 } }, "0 1229782938247303441", 0, 0, NULL },
	{ "all-reads", agree, { PAIR(0) }, { { 0, 16, ALL, 1 }, { 0, 0, ALL, 2 } }, "0 1229782938247303441", 0, ALL_READS, NULL },
	{ "watch", watched, { { .offset = 0, .watch = 0xffff }, { 64, { { 0, 8, 3 } }, .watch = ALL } },
	  { { 0, 0, ALL, 1 }, { 1, 0, 1, 2 }, { 1, 0, ALL, 1 } }, "0 9 3", 0, 0, NULL },
	{ "twice", twice, { PAIR(0) }, { { 0, 8, ALL, 2 } }, "2222222222222222 1111111111111111 2222222222222222", 0, 0, NULL },
	{ "over-line", over_line, { { 0, { { 60, 4, 1 } } }, { 64, { { 0, 4, 2 } } }, { 4032, { { 60, 4, 3 } } }, { 4096, { { 0, 4, 4 } } } },
	  { { 0, 60, 1, 2 }, { 1, 0, 1, 2 }, { 2, 60, 1, 2 }, { 3, 0, 1, 2 } }, "200000001 400000003", 0, 0, NULL },
	{ "overwritten", overwritten, { PAIR(0), PAIR(64) }, { { 1, 0, 0xfe, 2 } }, "5 1111111111111105", 0, 0, NULL },
	{ "three-values", three_values, { { 0, { { 0, 8, 1 }, { 0, 8, 2 }, { 8, 8, 1 } } } }, { { 0, 0, 1, 3 } }, "2", 0, 0, NULL },
	{ "locked", locked, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "0 1111111111111111 2222222222222222 2222222222222223", 0, 0, NULL },
	{ "flush", flush, { PAIR(0) }, { { 0, 8, ALL, 2 } }, "2222222222222222", 0, 0, NULL },
	{ "strings", strings, { PAIR(0), PAIR(64) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 }, { 1, 0, ALL, 2 }, { 1, 8, ALL, 2 } }, "16 1 17", 0, UNORDERED, NULL },
	{ "exact", exact, { PAIR(64) }, { { 0 } }, "0 0 1 0", 0, 0, NULL },
	{ "private", private_map, { PAIR(0), PAIR(64) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 }, { 1, 0, ALL, 2 }, { 1, 8, ALL, 2 } },
	  "7 1111111111111111 1111111111111111", 0, 0, NULL },
	{ "two-maps", two_maps, { PAIR(0) }, { { 0, 8, ALL, 2 } }, "3 2222222222222222 0", 0, 0, NULL },
	{ "remapped", remapped, { PAIR(0) }, { { 0, 0, ALL, 2 }, { 0, 8, ALL, 2 } }, "1111111111111111 2222222222222222", 0, 0, NULL },
	{ "elsewhere", elsewhere, { PAIR(0) }, { { 0 } }, "0", 0, 0, NULL },
	{ 0 },
};
