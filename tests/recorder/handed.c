/* --old-bytes: an allocator announces what it hands out. What it hands out again holds bytes that are not zero; what is handed out for the first time, a hole, what was punched or cut
 * off, and what nobody gave back, stays as it is. Without the option, all of it stays. The program checks its own memory; the trace must replay to it. */
#include <fcntl.h>
#include <sys/wait.h>
#include <valgrind/memcheck.h>

#include "pmtrace.h"
#include "tests/recorder/expect.h"

#define POOL_BYTES (1 << 16)
#define PAGE 4096

static int has_old; /* the option is in force */

static int is_all(const char *p, size_t n, char value)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != value)
			return 0;
	return 1;
}

static void check_old(const char *pool, const char *p, size_t n, char before)
{
	uint8_t want[POOL_BYTES];

	pmt_old_bytes(want, (uint64_t)(p - pool), n);
	CHECK(has_old ? memcmp(p, want, n) == 0 : is_all(p, n, before));
	for (size_t i = 0; has_old && i < n; i++)
		CHECK(want[i] >= 0x80);
	for (size_t i = 0; has_old && i + 16 <= n; i += 8)
		CHECK(memcmp(want + i, want + i + 8, 8) != 0);
}

/* Blocks that look like malloc's. */
static void like_malloc(const char *dir)
{
	char *pool = pool_map(pool_path(dir, "malloc"), POOL_BYTES), *a = pool + 24, *b = pool + 5 * PAGE - 100;

	memset(pool, 'm', PAGE);
	VALGRIND_MALLOCLIKE_BLOCK(a, 100, 0, 0);
	CHECK(is_all(a, 100, 'm')); /* for the first time */
	memset(a, 'a', 100);
	VALGRIND_MALLOCLIKE_BLOCK(b, 300, 0, 0); /* across pages */
	memset(b, 'b', 300);
	VALGRIND_FREELIKE_BLOCK(a, 0);
	CHECK(is_all(a, 100, 'a')); /* the free list may be in it */
	VALGRIND_FREELIKE_BLOCK(b, 0);
	VALGRIND_MALLOCLIKE_BLOCK(a + 10, 50, 0, 1);
	CHECK(is_all(a + 10, 50, 'a')); /* it says that it is zero: so be it */
	VALGRIND_MALLOCLIKE_BLOCK(b + 200, 200, 0, 0);
	check_old(pool, b + 200, 100, 'b');
	CHECK(is_all(b, 200, 'b') && is_all(b + 300, 100, 0)); /* not handed out; never handed out before */
	memset(b + 200, 'c', 200);
	VALGRIND_RESIZEINPLACE_BLOCK(b + 200, 200, 80, 0);
	VALGRIND_RESIZEINPLACE_BLOCK(b + 200, 80, 120, 0);
	CHECK(is_all(b + 200, 80, 'c') && is_all(b + 320, 80, 'c'));
	check_old(pool, b + 280, 40, 'c');
}

/* A pool, in which another allocator hands out parts of a block. */
static void like_pool(const char *dir)
{
	char *pool = pool_map(pool_path(dir, "mempool"), POOL_BYTES), *a = pool + 128, *b = pool + 1024;
	int zeroed;

	VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
	VALGRIND_CREATE_MEMPOOL(&zeroed, 0, 1);
	VALGRIND_MEMPOOL_ALLOC(pool, a, 64);
	VALGRIND_MALLOCLIKE_BLOCK(a, 32, 0, 0);
	memset(a, 'a', 64);
	VALGRIND_FREELIKE_BLOCK(a, 0);
	VALGRIND_MALLOCLIKE_BLOCK(a, 32, 0, 0);
	check_old(pool, a, 32, 'a');
	CHECK(is_all(a + 32, 32, 'a'));
	memset(a, 'b', 64);
	VALGRIND_MEMPOOL_CHANGE(pool, a, a, 48);
	CHECK(is_all(a, 64, 'b'));
	VALGRIND_MEMPOOL_FREE(pool, a);
	/* what libpmemobj does for its own: no block is named */
	VALGRIND_MAKE_MEM_UNDEFINED(a, 64);
	VALGRIND_MAKE_MEM_NOACCESS(a, 64);
	VALGRIND_MAKE_MEM_UNDEFINED(a, 64);
	CHECK(is_all(a, 64, 'b'));
	VALGRIND_MEMPOOL_ALLOC(pool, a, 64);
	check_old(pool, a, 48, 'b');
	CHECK(is_all(a + 48, 16, 'b'));
	VALGRIND_MEMPOOL_ALLOC(&zeroed, b, 64);
	memset(b, 'z', 64);
	VALGRIND_MEMPOOL_FREE(&zeroed, b);
	VALGRIND_MEMPOOL_ALLOC(&zeroed, b, 64);
	CHECK(is_all(b, 64, 'z'));
	VALGRIND_DESTROY_MEMPOOL(pool); /* a closed pool keeps its objects */
	VALGRIND_MEMPOOL_ALLOC(pool, a, 64);
	check_old(pool, a, 48, 'b');
}

/* Only what may be accessed is said. */
static void like_arena(const char *dir)
{
	char *pool = pool_map(pool_path(dir, "arena"), POOL_BYTES);

	VALGRIND_MAKE_MEM_NOACCESS(pool, POOL_BYTES);
	VALGRIND_MAKE_MEM_UNDEFINED(pool + 100, 200);
	CHECK(is_all(pool + 100, 200, 0));
	memset(pool + 100, 'a', 200);
	VALGRIND_MAKE_MEM_UNDEFINED(pool + 100, 200); /* it was not given back */
	CHECK(is_all(pool + 100, 200, 'a'));
	VALGRIND_MAKE_MEM_NOACCESS(pool, POOL_BYTES);
	VALGRIND_MAKE_MEM_DEFINED(pool + 100, 50); /* with content */
	CHECK(is_all(pool + 100, 50, 'a'));
	VALGRIND_MAKE_MEM_UNDEFINED(pool + 50, 1000);
	check_old(pool, pool + 150, 150, 'a');
	CHECK(is_all(pool + 100, 50, 'a') && is_all(pool + 300, 750, 0));
}

/* Zeros that the file system promises. */
static void holes(const char *dir)
{
	const char *path = pool_path(dir, "holes");
	char *pool = pool_map(path, POOL_BYTES), *last = pool + POOL_BYTES - PAGE;
	int fd = open(path, O_RDWR), is_hole;

	CHECK(fd >= 0);
	for (int i = 0; i < 6; i++)
		VALGRIND_MALLOCLIKE_BLOCK(pool + i * 2 * PAGE, 2 * PAGE, 0, 0);
	VALGRIND_MALLOCLIKE_BLOCK(last, PAGE, 0, 0);
	memset(pool, 'p', 2 * PAGE);
	memset(pool + 4 * PAGE, 'q', 2 * PAGE);
	memset(last, 'r', PAGE);
	for (int i = 0; i < 6; i++)
		if (i != 2)
			VALGRIND_FREELIKE_BLOCK(pool + i * 2 * PAGE, 0);
	VALGRIND_FREELIKE_BLOCK(last, 0);
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, PAGE) == 0);
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4 * PAGE + 100, 200) == 0); /* in use */
	CHECK(ftruncate(fd, POOL_BYTES - PAGE + 1) == 0 && ftruncate(fd, POOL_BYTES) == 0);
	VALGRIND_FREELIKE_BLOCK(pool + 4 * PAGE, 0);
	is_hole = lseek(fd, 2 * PAGE, SEEK_DATA) >= 4 * PAGE; /* nobody stored there; some file systems do not tell */
	VALGRIND_MALLOCLIKE_BLOCK(pool, 4 * PAGE, 0, 0);
	check_old(pool, pool, 100, 'p');
	CHECK(is_all(pool + 100, PAGE, 0));
	check_old(pool, pool + PAGE + 100, PAGE - 100, 'p');
	CHECK(!is_hole || is_all(pool + 2 * PAGE, 2 * PAGE, 0));
	VALGRIND_MALLOCLIKE_BLOCK(pool + 4 * PAGE, 2 * PAGE, 0, 0);
	check_old(pool, pool + 4 * PAGE, 100, 'q');
	CHECK(is_all(pool + 4 * PAGE + 100, 200, 0));
	check_old(pool, pool + 4 * PAGE + 300, 2 * PAGE - 300, 'q');
	VALGRIND_MALLOCLIKE_BLOCK(last, PAGE, 0, 0);
	CHECK(is_all(last + 1, PAGE - 1, 0));
	CHECK(mprotect(pool, PAGE, PROT_READ) == 0);
	VALGRIND_FREELIKE_BLOCK(pool, 0);
	VALGRIND_MALLOCLIKE_BLOCK(pool, 100, 0, 0); /* cannot be stored to */
	check_old(pool, pool, 100, 'p');
	close(fd);
}

/* A child got back what its parent gives out; and whoever maps the file again knows nothing. */
static void others(const char *dir)
{
	const char *path = pool_path(dir, "others");
	char *pool = pool_map(path, POOL_BYTES), *again;
	int fd = open(path, O_RDWR), status;

	VALGRIND_MALLOCLIKE_BLOCK(pool, 64, 0, 0);
	VALGRIND_MALLOCLIKE_BLOCK(pool + 64, 64, 0, 0);
	memset(pool, 'a', 128);
	VALGRIND_FREELIKE_BLOCK(pool, 0);
	if (fork() == 0) {
		VALGRIND_MALLOCLIKE_BLOCK(pool, 64, 0, 0);
		check_old(pool, pool, 64, 'a');
		memset(pool, 'c', 64);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0 && is_all(pool, 64, 'c'));
	again = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(again != MAP_FAILED);
	VALGRIND_MALLOCLIKE_BLOCK(again, 64, 0, 0); /* tells what is in use */
	CHECK(is_all(again, 64, 'c'));
	VALGRIND_FREELIKE_BLOCK(again + 64, 0); /* was announced at the other address */
	VALGRIND_MALLOCLIKE_BLOCK(pool + 64, 64, 0, 0);
	check_old(again, again + 64, 64, 'a');
	close(fd);
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	has_old = argc > 2;
	like_malloc(argv[1]);
	like_pool(argv[1]);
	like_arena(argv[1]);
	holes(argv[1]);
	others(argv[1]);
	return 0;
}
