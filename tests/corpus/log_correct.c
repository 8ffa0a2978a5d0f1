/* libpmemlog: create, append, walk, rewind, check, reopen. Nothing of what it does inside is a bug of the program. */
#include <libpmemlog.h>
#include <sys/uio.h>

#include "corpus.h"

#define RECORD_BYTES 32

static int count(const void *buf, size_t len_bytes, void *arg)
{
	CHECK(len_bytes == RECORD_BYTES && ((const char *)buf)[0] == 'r');
	++*(unsigned *)arg;
	return 1;
}

static void fill(PMEMlogpool *log)
{
	char record[RECORD_BYTES] = "record";
	static char big[3 * 4096 / RECORD_BYTES * RECORD_BYTES];
	struct iovec parts[] = { { record, sizeof record }, { record, sizeof record } };
	unsigned n = 0;

	for (int i = 0; i < 5; i++)
		CHECK(pmemlog_append(log, record, sizeof record) == 0);
	CHECK(pmemlog_appendv(log, parts, 2) == 0);
	pmemlog_walk(log, RECORD_BYTES, count, &n);
	CHECK(n == 7);
	pmemlog_rewind(log);
	CHECK(pmemlog_tell(log) == 0);
	memset(big, 'r', sizeof big);
	CHECK(pmemlog_append(log, big, sizeof big) == 0);
	CHECK(pmemlog_append(log, record, sizeof record) == 0);
}

int main(int argc, char **argv)
{
	PMEMlogpool *log;
	unsigned n = 0;

	CHECK(argc == 2);
	log = pmemlog_create(argv[1], PMEMLOG_MIN_POOL, 0666);
	CHECK(log && pmemlog_nbyte(log) > 1024 * 1024);
	fill(log);
	pmemlog_close(log);
	CHECK(pmemlog_check(argv[1]) == 1);

	log = pmemlog_open(argv[1]);
	CHECK(log);
	pmemlog_walk(log, RECORD_BYTES, count, &n);
	CHECK(n == 3 * 4096 / RECORD_BYTES + 1);
	CHECK(pmemlog_append(log, "rest", 4) == 0);
	pmemlog_close(log);
	return 0;
}
