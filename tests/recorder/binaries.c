/* Built in several ways: position dependent, static, static PIE, stripped. The same trace each time. */
#include "tests/recorder/expect.h"
#include "tests/machine.h"

#include <pthread.h>

typedef volatile uint64_t vu64;

__attribute__((noinline)) static void innermost(char *p, uint64_t value)
{
	STORE(p, 8, *(vu64 *)p = value);
	FLUSH(FLUSH_KIND, p, flush_line(p));
	FENCE(FENCE_KIND, fence());
}

__attribute__((noinline)) static void middle(char *p)
{
	for (uint64_t i = 0; i < 5; i++)
		innermost(p + 64 * i, i);
	STORE_CHAIN(p + 512, 8, "middle < main", *(vu64 *)(p + 512) = 9);
}

static void *thread(void *p)
{
	innermost((char *)p, 10);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	char *pool;

	CHECK(argc == 2);
	pool = pool_map(pool_path(argv[1], "pool"), 8192);
	middle(pool);
	CHECK(pthread_create(&t, NULL, thread, pool + 1024) == 0);
	pthread_join(t, NULL);
	memset(pool + 4096, 'x', 1000);
	expect_cover("store", pool + 4096, 1000);
	STORE_CHAIN(pool + 8, 8, "main", *(vu64 *)(pool + 8) = 11);
	return 0;
}
