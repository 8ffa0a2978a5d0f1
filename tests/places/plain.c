/* An ordinary program: `plain write POOL [BYTES]` makes a pool of that size and works on it, `plain check POOL` recovers it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pool.h"

int main(int argc, char **argv)
{
	int is_check = argc > 1 && strcmp(argv[1], "check") == 0, fd;
	size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 0) : POOL_BYTES;
	struct pool *p;
	struct stat st;

	if (argc < 3)
		return fprintf(stderr, "usage: plain write POOL [BYTES] | plain check POOL\n"), 2;
	fd = open(argv[2], is_check ? O_RDWR : O_RDWR | O_CREAT, 0644);
	if (fd < 0 && is_check && errno == ENOENT)
		return 0; /* a crash came before there was a pool */
	if (fd < 0 || (!is_check && ftruncate(fd, (off_t)bytes) < 0) || fstat(fd, &st) < 0)
		return perror(argv[2]), 2;
	if (st.st_size < (off_t)sizeof *p)
		return 0; /* a crash came before the pool had its size */
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return perror("mmap"), 2;
	if (is_check)
		return pool_wrong(p);
	pool_first(p);
	pool_second(p);
	return 0;
}
