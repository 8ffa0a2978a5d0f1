/* A mapped file whose head is written with pwrite, durable when that returns: `metas run POOL`. A head inside a sector is whole or not there (`metas inside POOL`);
 * one across two sectors tears (`metas across POOL`). Of many bytes, each sector has all or none (`metas many POOL`). */
#include "pm.h"

#define PAGE_BYTES 4096
#define SECTOR_BYTES 512
#define POOL_BYTES (6 * PAGE_BYTES)
#define MANY (2 * PAGE_BYTES)

struct head {
	uint64_t begin, root[16], end; /* more than two cache lines */
};

static const off_t inside = PAGE_BYTES + 40, across = 2 * PAGE_BYTES + SECTOR_BYTES - 64, many = 3 * PAGE_BYTES + 100;

static void run(const char *path)
{
	struct head head = { 0 };
	char bytes[MANY];
	int fd;

	pool_create(path, POOL_BYTES);
	fd = open(path, O_WRONLY | O_DSYNC);
	for (head.begin = head.end = 1; head.begin < 4; head.begin = ++head.end) {
		memset(bytes, (int)head.begin, sizeof bytes);
		CHECK(pwrite(fd, &head, sizeof head, inside) == sizeof head);
		CHECK(pwrite(fd, &head, sizeof head, across) == sizeof head); /* BUG: across: atomicity lost */ /* BUG: across: atomicity survived */
		CHECK(pwrite(fd, bytes, sizeof bytes, many) == sizeof bytes);
	}
}

static void check_many(const char *pool)
{
	for (off_t at = many; at < many + MANY; at++)
		CHECK(at == many || at % SECTOR_BYTES == 0 || pool[at] == pool[at - 1]);
}

int main(int argc, char **argv)
{
	struct head head = { 0 };
	const char *pool;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		run(argv[2]);
		return 0;
	}
	pool = pool_open(argv[2], POOL_BYTES);
	if (pool && strcmp(argv[1], "many") == 0)
		check_many(pool);
	else if (pool)
		memcpy(&head, pool + (argv[1][0] == 'i' ? inside : across), sizeof head);
	CHECK(head.begin == head.end);
	return 0;
}
