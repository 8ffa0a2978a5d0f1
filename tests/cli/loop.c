/* Many events: loop FILE ROUNDS stores and flushes so often. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define POOL_BYTES 65536

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;
	volatile long *pool;

	if (fd < 0 || ftruncate(fd, POOL_BYTES) < 0)
		return 99;
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED)
		return 98;
	for (long i = 0; i < atol(argv[2]); i++) {
		pool[i * 8 % (POOL_BYTES / 8)] = i * i;
		flush_line_now(&pool[i * 8 % (POOL_BYTES / 8)]);
	}
	return 0;
}
