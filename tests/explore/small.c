/* A program with so few paths that an exploration gets to its end: small POOL FILE. For explorations that share a folder. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm.h"

struct line {
	_Alignas(64) uint64_t value;
};

static void small(struct line *pool, const unsigned char *in)
{
	if (in[1] > 7) {
		pool[1].value = 2;
		persist(&pool[1]);
		if (in[2] == in[1] + 1)
			pool[2].value = 3; /* BUG: missing-flush-fence */
	}
	if (in[0] == 'p')
		pool[0].value = 1; /* BUG: missing-flush-fence */
}

int main(int argc, char **argv)
{
	unsigned char in[3] = { 0 };
	struct line *pool;
	int fd;

	if (argc != 3)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0666);
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 2;
	pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	fd = open(argv[2], O_RDONLY);
	if (pool == MAP_FAILED || fd < 0 || read(fd, in, sizeof in) < 0)
		return 2;
	close(fd);
	small(pool, in);
	return 0;
}
