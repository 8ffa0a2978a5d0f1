/* Bound by stores, flushes and fences. Arguments: pool, rounds. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define LINES 1024

static void put(uint64_t *line, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		line[i] = v + (uint64_t)i;
#ifdef NO_CLWB /* for stock Valgrind, which cannot run clwb: does the rest of the work */
	__asm__ volatile("" ::"r"(line) : "memory");
#else
	flush_line(line);
#endif
	fence();
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0644), rounds = argc > 2 ? atoi(argv[2]) : 100;
	uint64_t *pm;

	if (fd < 0 || ftruncate(fd, LINES * 64) < 0)
		return 1;
	pm = mmap(NULL, LINES * 64, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < LINES; i++)
			put(pm + i * 8, (uint64_t)r * i);
	return 0;
}
