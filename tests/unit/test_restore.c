/* A pool is put back from what a recording tells, also if the recorded process was killed; but not if it was about to tell more. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pools/restore.h"
#include "trace/writer.h"

#define POOL_BYTES 4096

struct fixture {
	char pool[64], trace[64];
};

static void write_pool(const char *path, const char *text)
{
	char bytes[POOL_BYTES] = { 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	strcpy(bytes, text);
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	close(fd);
}

static void check_pool(const char *path, const char *text)
{
	char bytes[POOL_BYTES];
	int fd = open(path, O_RDONLY);

	assert_int_equal(read(fd, bytes, sizeof bytes), sizeof bytes);
	close(fd);
	assert_string_equal(bytes, text);
}

static void emit(struct writer *w, enum pmt_kind kind, const uint64_t *arg, const char *text)
{
	struct writer_event ev = { .site = writer_site(w, 0, 0, kind, 0), .thread = 1, .addr = PMT_ADDR(1, 0), .data = text, .data_len = (uint32_t)strlen(text) };

	for (unsigned i = 0; arg && i < trace_kinds[kind].nargs; i++)
		ev.arg[i] = arg[i];
	writer_event(w, &ev);
}

/* The chunk stays open, as SIGKILL leaves it. */
static void cut_off(const char *trace)
{
	struct pmt_chunk chunk;
	int fd = open(trace, O_RDWR);

	assert_int_equal(pread(fd, &chunk, sizeof chunk, PMT_HEADER_BYTES), sizeof chunk);
	chunk.state = PMT_CHUNK_OPEN;
	chunk.hash = 0;
	assert_int_equal(pwrite(fd, &chunk, sizeof chunk, PMT_HEADER_BYTES), sizeof chunk);
	close(fd);
}

/* A run found "before" in its pool and made "after" of it. */
static void record(struct fixture *f, bool is_mapped, bool is_killed)
{
	struct writer *w;
	struct error err;
	struct stat st;

	snprintf(f->pool, sizeof f->pool, "/tmp/pmend-restore-%d-pool", (int)getpid());
	snprintf(f->trace, sizeof f->trace, "/tmp/pmend-restore-%d-trace", (int)getpid());
	write_pool(f->pool, "after");
	assert_int_equal(stat(f->pool, &st), 0);
	assert_int_equal(writer_open(&w, f->trace, &err), 0);
	emit(w, PMT_FILE, (const uint64_t[]){ 1, POOL_BYTES, 0, st.st_dev, st.st_ino }, f->pool);
	emit(w, PMT_CONTENT, NULL, "before");
	if (is_mapped)
		emit(w, PMT_MAP, (const uint64_t[]){ 0x100000, POOL_BYTES, 3 }, "");
	assert_int_equal(writer_close(w, &err), 0);
	if (is_killed)
		cut_off(f->trace);
}

static void check(bool is_mapped, bool is_killed, const char *expected)
{
	struct fixture f;
	struct restore *p;
	struct error err;

	record(&f, is_mapped, is_killed);
	p = restore_begin(f.trace, &err);
	if (expected) {
		assert_non_null(p);
		check_pool(f.pool, expected);
		assert_int_equal(restore_end(p, true, &err), 0);
		check_pool(f.pool, expected);
	} else {
		assert_null(p);
		assert_non_null(strstr(err.msg, "cut off"));
		check_pool(f.pool, "after"); /* and nothing was touched */
	}
	unlink(f.pool);
	unlink(f.trace);
}

static void test_whole(void **state)
{
	(void)state;
	check(true, false, "before");
}

static void test_killed_afterwards(void **state)
{
	(void)state;
	check(true, true, "before");
}

static void test_killed_while_telling(void **state)
{
	(void)state;
	check(false, true, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_killed_afterwards),
		cmocka_unit_test(test_killed_while_telling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
