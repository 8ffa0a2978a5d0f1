/* Stores, flushes and fences all over a sparse pool of 1 GiB. Arguments: pool, thousands of
 * records, and how many of the pool's pages they are spread over (0: all). */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine.h"

#define POOL_BYTES ((uint64_t)1 << 30)
#define PAGE_BYTES 4096u
#define NPAGES (POOL_BYTES / PAGE_BYTES)

static void put(uint64_t *record, uint64_t v)
{
	record[0] = v;
#ifdef NO_CLWB /* for stock Valgrind, which cannot run clwb: does the rest of the work */
	__asm__ volatile("" ::"r"(record) : "memory");
#else
	flush_line(record);
#endif
	fence();
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) * 1000 : 1000,
		       pages = argc > 3 ? strtoull(argv[3], NULL, 0) : 0,
		       spread = pages ? pages : NPAGES;
	uint64_t x = 88172645463325252u;
	uint8_t *pm;

	if (fd < 0 || spread > NPAGES || ftruncate(fd, POOL_BYTES) < 0)
		return 1;
	pm = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pm == MAP_FAILED)
		return 1;
	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13; /* xorshift */
		x ^= x >> 7;
		x ^= x << 17;
		put((uint64_t *)(pm + (x % spread) * (NPAGES / spread) * PAGE_BYTES +
				 (x >> 40) % (PAGE_BYTES / 64) * 64),
		    x);
	}
	return 0;
}
