/* A recovery of about 0.1 ms on a raw mapping: crash_recovery POOL. Checks the records of a log until the first that does not hold. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct record {
	uint64_t words[7], sum;
};

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	struct record *log;
	struct stat st;
	size_t n, i;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 2;
	log = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED)
		return 2;
	n = (size_t)st.st_size / sizeof *log;
	for (i = 0; i < n; i++) {
		uint64_t sum = 1;

		for (int k = 0; k < 7; k++)
			sum = sum * 31 + log[i].words[k];
		if (sum != log[i].sum)
			break;
	}
	log[n - 1].words[0] = i; /* what it did is written down */
	printf("%zu\n", i);
	return 0;
}
