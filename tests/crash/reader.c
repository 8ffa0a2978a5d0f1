/* reader POOL SEED: runs a random script on a pool and prints what it came to. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "script.h"

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	uint8_t *pool = mmap(NULL, SCRIPT_POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || pool == MAP_FAILED)
		return 1;
	printf("%016llx\n", (unsigned long long)script_run(pool, strtoull(argv[2], NULL, 0)));
	return 0;
}
