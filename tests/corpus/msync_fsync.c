/* CHECK: --platform msync */
/* fsync and fdatasync of the file do what msync does, also for mappings that are gone. */
#include "corpus.h"

int main(int argc, char **argv)
{
	struct pm *p;
	int fd;

	CHECK(argc == 2);
	p = pool_map(argv[1]);
	fd = open(argv[1], O_RDWR);
	p->a = 1;
	CHECK(fsync(fd) == 0);
	p->c = 2;
	CHECK(fdatasync(fd) == 0);
	memset(p->text, 'x', sizeof p->text);
	CHECK(munmap(p, POOL_BYTES) == 0);
	CHECK(fsync(fd) == 0);
	close(fd);
	return 0;
}
