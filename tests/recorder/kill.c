/* A program that dies: nothing that happened before may be missing.
 * Usage: kill DIR (sigkill | sigsegv | abort | flood): flood stores so much that the disk becomes full. */
#include "tests/recorder/expect.h"

#include <signal.h>

typedef volatile uint64_t vu64;

#define POOL_BYTES (1 << 20)

int main(int argc, char **argv)
{
	uint64_t random = 88172645463325252ull;
	int flood = argc == 3 && !strcmp(argv[2], "flood"), n = flood ? 600000 : 60000; /* several chunks */
	char *pool;

	CHECK(argc == 3);
	pool = pool_map(pool_path(argv[1], "pool"), POOL_BYTES);
	for (int i = 0; i < n; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		*(vu64 *)(pool + random % (POOL_BYTES / 8) * 8) = random;
	}
	if (!strcmp(argv[2], "sigkill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(argv[2], "sigsegv"))
		*(volatile char *)8 = 1;
	if (!strcmp(argv[2], "abort"))
		abort();
	return 0;
}
