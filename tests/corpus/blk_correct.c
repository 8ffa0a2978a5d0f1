/* libpmemblk: create, write, read, set_zero, set_error, check, reopen. Nothing of what it does inside is a bug of the program. */
#include <errno.h>
#include <libpmemblk.h>

#include "corpus.h"

#define BLOCK_BYTES 512
#define POOL_MIN_BYTES PMEMBLK_MIN_POOL

static void use(PMEMblkpool *pool)
{
	char block[BLOCK_BYTES], again[BLOCK_BYTES];

	CHECK(pmemblk_read(pool, again, 3) == 0); /* never written */
	for (long long i = 0; i < 6; i++) {
		memset(block, 'a' + (int)i, sizeof block);
		CHECK(pmemblk_write(pool, block, i % 4) == 0); /* two of them for the second time */
		CHECK(pmemblk_read(pool, again, i % 4) == 0 && memcmp(block, again, sizeof block) == 0);
	}
	CHECK(pmemblk_set_zero(pool, 1) == 0);
	CHECK(pmemblk_read(pool, again, 1) == 0 && again[0] == 0 && again[BLOCK_BYTES - 1] == 0);
	CHECK(pmemblk_set_error(pool, 2) == 0);
	CHECK(pmemblk_read(pool, again, 2) == -1 && errno == EIO);
	CHECK(pmemblk_set_error(pool, 3) == 0);
	CHECK(pmemblk_write(pool, block, 3) == 0); /* mends it */
	CHECK(pmemblk_read(pool, again, 3) == 0);
}

int main(int argc, char **argv)
{
	char block[BLOCK_BYTES];
	PMEMblkpool *pool;

	CHECK(argc == 2);
	pool = pmemblk_create(argv[1], BLOCK_BYTES, POOL_MIN_BYTES, 0666);
	CHECK(pool && pmemblk_bsize(pool) == BLOCK_BYTES && pmemblk_nblock(pool) > 100);
	use(pool);
	pmemblk_close(pool);
	CHECK(pmemblk_check(argv[1], BLOCK_BYTES) == 1);

	pool = pmemblk_open(argv[1], BLOCK_BYTES);
	CHECK(pool);
	CHECK(pmemblk_read(pool, block, 2) == -1 && errno == EIO);
	CHECK(pmemblk_read(pool, block, 0) == 0 && block[0] == 'e');
	CHECK(pmemblk_write(pool, block, (long long)pmemblk_nblock(pool) - 1) == 0);
	pmemblk_close(pool);
	return 0;
}
