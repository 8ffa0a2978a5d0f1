/* PM is a file and an offset, wherever and however often it is mapped. run.py prepares the pools "existing" and "sparse",
 * which have content already. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"

#include <signal.h>
#include <sys/stat.h>

typedef volatile uint64_t vu64;

static char *map(const char *path, void *at, uint64_t bytes, uint64_t offset, int prot, int flags)
{
	int fd = open(path, O_RDWR);
	char *p;

	CHECK(fd >= 0);
	p = mmap(at, bytes, prot, flags, fd, (off_t)offset);
	CHECK(p != MAP_FAILED);
	close(fd);
	return p;
}

#define RW (PROT_READ | PROT_WRITE)

static void several(const char *dir)
{
	const char *a_path = pool_path(dir, "a");
	char *a = pool_map(a_path, 8192), *b = pool_map(pool_path(dir, "b"), 8192), *again, *tail;

	STORE(a, 8, *(vu64 *)a = 1);
	STORE(b, 8, *(vu64 *)b = 2);
	again = map(a_path, NULL, 8192, 0, RW, MAP_SHARED);
	expect_pool(a_path, again, 8192, 0);
	CHECK(again != a);
	STORE(again, 8, *(vu64 *)again = 3);
	STORE(a + 8, 8, *(vu64 *)(a + 8) = 4);
	CHECK(*(vu64 *)a == 3 && *(vu64 *)(again + 8) == 4);
	tail = map(a_path, NULL, 4096, 4096, RW, MAP_SHARED_VALIDATE);
	expect_pool(a_path, tail, 4096, 4096);
	STORE(tail + 16, 8, *(vu64 *)(tail + 16) = 5);
	CHECK(munmap(a, 8192) == 0); /* the others stay */
	STORE(again + 4096, 8, *(vu64 *)(again + 4096) = 6);
	FLUSH(FLUSH_KIND, again + 4096, flush_line(again + 4096));
	FLUSH(FLUSH_KIND, tail + 16, flush_line(tail + 16));
	FENCE(FENCE_KIND, fence());
}

/* Two pools side by side in memory: a store across the border is one in each. */
static void adjacent(const char *dir)
{
	char *all = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *left = pool_map_at(pool_path(dir, "left"), 4096, all, MAP_FIXED);
	char *right = pool_map_at(pool_path(dir, "right"), 4096, all + 4096, MAP_FIXED);

	CHECK(left + 4096 == right);
	*(vu64 *)(right - 3) = 0x1817161514131211;
	expect_store("store", right - 3, 3, __LINE__ - 1, __func__);
	expect_store("store", right, 5, __LINE__ - 2, __func__);
}

/* What is not PM: private and anonymous mappings, mappings that cannot be written. */
static void not_pm(const char *dir)
{
	char *private = map(pool_path(dir, "existing"), NULL, 4096, 0, RW, MAP_PRIVATE);
	char *anonymous = mmap(NULL, 4096, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *read_only = map(pool_path(dir, "existing"), NULL, 4096, 0, PROT_READ, MAP_SHARED);

	*(vu64 *)private = 99;
	*(vu64 *)anonymous = 2;
	CHECK(read_only[0] == 1); /* as run.py prepared it */
	munmap(private, 4096);
	munmap(read_only, 4096);
}

static void remapped(const char *dir)
{
	const char *path = pool_path(dir, "remapped");
	char *p = pool_map(path, 16384), *q, *fixed;

	STORE(p, 8, *(vu64 *)p = 1);
	CHECK(truncate(path, 64 << 10) == 0);
	q = mremap(p, 16384, 64 << 10, MREMAP_MAYMOVE);
	CHECK(q != MAP_FAILED);
	expect_pool(path, q, 64 << 10, 0);
	STORE(q + 8, 8, *(vu64 *)(q + 8) = 2);
	STORE(q + (60 << 10), 8, *(vu64 *)(q + (60 << 10)) = 3);
	fixed = mmap(NULL, 64 << 10, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(q, 64 << 10, 64 << 10, MREMAP_MAYMOVE | MREMAP_FIXED, fixed) == fixed);
	expect_pool(path, fixed, 64 << 10, 0);
	STORE(fixed + 4096, 8, *(vu64 *)(fixed + 4096) = 4);
	/* its old place is free for something else */
	CHECK(mmap(q, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == q);
	*(vu64 *)q = 99;
	CHECK(mremap(fixed, 64 << 10, 8192, 0) == fixed); /* shrinks */
	CHECK(mmap(fixed + 8192, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == fixed + 8192);
	*(vu64 *)(fixed + 8192) = 99;
	STORE(fixed + 8184, 8, *(vu64 *)(fixed + 8184) = 5);
}

static void holes(const char *dir)
{
	const char *path = pool_path(dir, "holes"), *other = pool_path(dir, "other");
	char *p = pool_map(path, 32768);

	CHECK(munmap(p + 8192, 8192) == 0);
	STORE(p + 8184, 8, *(vu64 *)(p + 8184) = 1);
	STORE(p + 16384, 8, *(vu64 *)(p + 16384) = 2);
	CHECK(mmap(p + 8192, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 8192);
	*(vu64 *)(p + 8192) = 99;
	CHECK(pool_map_at(other, 4096, p + 20480, MAP_FIXED) == p + 20480); /* over the old mapping */
	STORE(p + 20480, 8, *(vu64 *)(p + 20480) = 3);
	STORE(p + 24576, 8, *(vu64 *)(p + 24576) = 4);
	CHECK(mmap(p + 24576, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 24576);
	*(vu64 *)(p + 24576) = 99;
	STORE(p + 28672, 8, *(vu64 *)(p + 28672) = 5);
	/* the same file over itself, elsewhere */
	CHECK(map(path, p, 4096, 4096, RW, MAP_SHARED | MAP_FIXED) == p);
	expect_pool(path, p, 4096, 4096);
	STORE(p, 8, *(vu64 *)p = 6);
	expect_npools--;
	STORE(p + 4096 + 8, 8, *(vu64 *)(p + 4096 + 8) = 7);
}

static char *guarded;

static void on_segv(int number)
{
	CHECK(number == SIGSEGV);
	CHECK(mprotect(guarded, 4096, RW) == 0);
}

/* A store that faults has not happened; after the handler made the page writable it happens, once. */
static void protected(const char *dir)
{
	const char *path = pool_path(dir, "protected");
	char *p = pool_map(path, 8192), *q;

	guarded = p;
	signal(SIGSEGV, on_segv);
	STORE(p, 8, *(vu64 *)p = 1);
	CHECK(mprotect(p, 4096, PROT_READ) == 0);
	STORE(p + 4096, 8, *(vu64 *)(p + 4096) = 2);
	STORE(p + 8, 8, *(vu64 *)(p + 8) = 3); /* faults */
	STORE(p + 16, 8, *(vu64 *)(p + 16) = 4);
	q = map(path, NULL, 8192, 0, PROT_READ, MAP_SHARED); /* becomes PM when it becomes writable */
	CHECK(mprotect(q, 4096, RW) == 0);
	expect_pool(path, q, 8192, 0);
	STORE(q + 24, 8, *(vu64 *)(q + 24) = 5);
	guarded = q;
	CHECK(mprotect(q, 8192, PROT_NONE) == 0);
	STORE(q + 32, 8, *(vu64 *)(q + 32) = 6); /* faults */
	signal(SIGSEGV, SIG_DFL);
}

static void large(const char *dir)
{
	const char *path = pool_path(dir, "large");
	char *p = pool_map(path, 1ull << 30), *q;
	int fd = open(pool_path(dir, "existing"), O_RDWR);

	STORE(p, 8, *(vu64 *)p = 1);
	STORE(p + (1 << 30) - 8, 8, *(vu64 *)(p + (1 << 30) - 8) = 2);
	STORE(p + (1 << 29) - 4, 8, *(vu64 *)(p + (1 << 29) - 4) = 3);
	path = pool_path(dir, "sparse");
	q = map(path, NULL, 1ull << 30, 0, RW, MAP_SHARED);
	expect_pool(path, q, 1ull << 30, 0);
	CHECK(!memcmp(q + (700 << 20), "far out", 8));
	STORE(q + (700 << 20), 1, *(volatile char *)(q + (700 << 20)) = 'F');
	q = mmap(NULL, 8192, RW, MAP_SHARED, fd, 4096); /* the middle of a file that has content */
	CHECK(q != MAP_FAILED);
	expect_pool(pool_path(dir, "existing"), q, 8192, 4096);
	STORE(q + 5, 1, *(volatile char *)(q + 5) = '!');
	close(fd);
}

static void growing(const char *dir)
{
	const char *path = pool_path(dir, "growing");
	char *p = pool_map(path, 4096);
	uint64_t bytes = 4096;

	for (int i = 0; i < 3; i++) {
		STORE(p + bytes - 8, 8, *(vu64 *)(p + bytes - 8) = (uint64_t)i + 1);
		CHECK(munmap(p, bytes) == 0);
		CHECK(truncate(path, (off_t)bytes * 2) == 0);
		bytes *= 2;
		p = map(path, NULL, bytes, 0, RW, MAP_SHARED);
		expect_pool(path, p, bytes, 0);
	}
	STORE(p + bytes - 8, 8, *(vu64 *)(p + bytes - 8) = 9);
}

/* A pool is built under another name and moved to its place; another one is deleted while mapped. */
static void renamed(const char *dir)
{
	const char *path = pool_path(dir, "before"), *gone = pool_path(dir, "gone");
	char *p = pool_map(path, 4096), *q = pool_map(gone, 4096);

	STORE(p, 8, *(vu64 *)p = 1);
	STORE(q, 8, *(vu64 *)q = 1);
	CHECK(rename(path, pool_path(dir, "after")) == 0);
	{
		const uint64_t any[] = {EXPECT_ANY};
		expect_args("rename", NULL, pool_path(dir, "after"), 1, any);
		CHECK(unlink(gone) == 0);
		expect_args("unlink", NULL, NULL, 1, any);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	several(argv[1]);
	adjacent(argv[1]);
	not_pm(argv[1]);
	remapped(argv[1]);
	holes(argv[1]);
	protected(argv[1]);
	large(argv[1]);
	growing(argv[1]);
	renamed(argv[1]);
	return 0;
}
