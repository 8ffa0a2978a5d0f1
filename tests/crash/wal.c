/* A mapped file with a log beside it, which is written and not mapped: `wal POOL`; `wal POOL check`. */
#include "pm.h"

int main(int argc, char **argv)
{
	char path[4096];
	uint64_t *p;
	int fd;

	CHECK(argc >= 2);
	if (argc == 3) {
		p = pool_open(argv[1], 4096);
		CHECK(!p || *p < 3);
		return 0;
	}
	snprintf(path, sizeof path, "%s.log", argv[1]);
	p = pool_create(argv[1], 4096);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 3; i++) {
		CHECK(write(fd, "entry", 5) == 5);
		*p = (uint64_t)i;
		CHECK(msync(p, 4096, MS_SYNC) == 0);
	}
	puts("said"); /* standard output is nothing beside */
	return 0;
}
