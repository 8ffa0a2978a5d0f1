/* A mapped file whose head is written with pwrite, durable when that returns: `metas run POOL`. A head inside a sector is whole or not there (`metas inside POOL`);
 * one across two sectors tears (`metas across POOL`). */
#include "pm.h"

#define PAGE_BYTES 4096
#define SECTOR_BYTES 512

struct head {
	uint64_t begin, root[16], end; /* more than two cache lines */
};

static const off_t inside = PAGE_BYTES + 40, across = 2 * PAGE_BYTES + SECTOR_BYTES - 64;

int main(int argc, char **argv)
{
	struct head head = { 0 };
	const char *pool;
	int fd;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		pool_create(argv[2], 3 * PAGE_BYTES);
		fd = open(argv[2], O_WRONLY | O_DSYNC);
		for (head.begin = head.end = 1; head.begin < 4; head.begin = ++head.end) {
			CHECK(pwrite(fd, &head, sizeof head, inside) == sizeof head);
			CHECK(pwrite(fd, &head, sizeof head, across) == sizeof head); /* BUG: across: atomicity lost */ /* BUG: across: atomicity survived */
		}
		return 0;
	}
	pool = pool_open(argv[2], 3 * PAGE_BYTES);
	if (pool)
		memcpy(&head, pool + (argv[1][0] == 'i' ? inside : across), sizeof head);
	CHECK(head.begin == head.end);
	return 0;
}
