/* A mapped file with an undo log beside it, which is written and not mapped: `wal run POOL careful` or `wal run POOL hasty`, which does not wait for the log. `wal recover POOL`. */
#include "pm.h"

#define PAGE_BYTES 4096

struct pool {
	_Alignas(PAGE_BYTES) uint64_t a;
	_Alignas(PAGE_BYTES) uint64_t b; /* equal to a */
};

struct entry {
	uint64_t is_valid, old;
};

static int log_open(const char *pool, int flags)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.log", pool);
	return open(path, flags, 0600);
}

static void run(struct pool *p, int log, int is_hasty)
{
	struct entry e = { .is_valid = 1 };

	for (e.old = 0; e.old < 3; e.old++) {
		CHECK(pwrite(log, &e, sizeof e, 0) == sizeof e); /* BUG: hasty: lost */
		CHECK(is_hasty || fdatasync(log) == 0);
		p->a = e.old + 1;
		p->b = e.old + 1; /* BUG: hasty: survived */
		CHECK(msync(p, sizeof *p, MS_SYNC) == 0);
		CHECK(pwrite(log, &(struct entry){ 0 }, sizeof e, 0) == sizeof e);
		CHECK(fdatasync(log) == 0);
	}
}

static void recover(struct pool *p, int log)
{
	struct entry e = { 0 };

	if (log >= 0 && pread(log, &e, sizeof e, 0) == sizeof e && e.is_valid && p)
		p->a = p->b = e.old;
	CHECK(!p || p->a == p->b);
}

int main(int argc, char **argv)
{
	CHECK(argc >= 3);
	if (strcmp(argv[1], "run") == 0)
		run(pool_create(argv[2], sizeof(struct pool)), log_open(argv[2], O_RDWR | O_CREAT), argv[3][0] == 'h');
	else
		recover(pool_open(argv[2], sizeof(struct pool)), log_open(argv[2], O_RDWR));
	return 0;
}
