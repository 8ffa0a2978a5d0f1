/* Mostly computes on volatile memory: sorts and sums, with a PM store now and then. Arguments:
 * pool, rounds. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define N 4096

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0644), rounds = argc > 2 ? atoi(argv[2]) : 100;
	static uint32_t a[N];
	uint32_t seed = 1;
	uint64_t *pm;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 1;
	pm = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int r = 0; r < rounds; r++) {
		uint64_t sum = 0;

		for (int i = 0; i < N; i++)
			a[i] = seed = seed * 1664525 + 1013904223;
		qsort(a, N, sizeof a[0], compare);
		for (int i = 0; i < N; i++)
			sum = sum * 31 + a[i];
		pm[r % 512] = sum;
	}
	return 0;
}
