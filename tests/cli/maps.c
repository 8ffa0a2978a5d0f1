/* Maps files, which it makes if they are not there, and stores to each: maps [-n] FILE...; -n: stores nothing. A file that is there is only mapped. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define POOL_BYTES 8192

int main(int argc, char **argv)
{
	const int stores = argc > 1 && strcmp(argv[1], "-n") != 0;

	for (int i = stores ? 1 : 2; i < argc; i++) {
		int fd = open(argv[i], O_RDWR);
		long *pool;

		if (fd < 0 && ((fd = open(argv[i], O_RDWR | O_CREAT, 0644)) < 0 || ftruncate(fd, POOL_BYTES) < 0))
			return 99;
		pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (pool == MAP_FAILED)
			return 98;
		if (!stores)
			continue;
		pool[8] = 42;
		flush_line_now(&pool[8]);
		fence();
	}
	return 0;
}
