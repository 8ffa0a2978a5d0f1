/* Programs that keep data in files, right and wrong: `filed FOLDER CASE make` makes what is there before, `filed FOLDER CASE` works on it and acknowledges what
 * it did, `filed FOLDER CASE print` prints what recovery finds, or fails. */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/crash/filed.h"
#include "tests/machine.h"

static int file_open(const char *path, int flags)
{
	const int fd = openat(folder, path, flags, 0600); /* BUG: created: missing-dir-fsync name */ /* BUG: ordered: ordering lost */

	CHECK(fd >= 0);
	return fd;
}

/* ---- a log with a sum in each record ---- */

struct record {
	uint64_t number, sum;
};

static void log_make(void)
{
	close(file_open("log", O_WRONLY | O_CREAT));
}

static void log_load(void)
{
	const int fd = file_open("log", O_WRONLY | O_APPEND);

	for (uint64_t i = 1; i <= 2; i++) {
		const struct record r = { i, i * 3 };

		CHECK(write(fd, &r, sizeof r) == sizeof r); /* BUG: unsummed: atomicity lost */ /* BUG: unsummed: atomicity survived */ /* BUG: unsynced: missing-fsync write */ /* BUG: uncut: atomicity lost */ /* BUG: uncut: atomicity survived */
		if (!is("unsynced"))
			CHECK(fdatasync(fd) == 0);
		done((int)i);
	}
	close(fd);
}

static int is_whole(int fd, struct record *r)
{
	return read(fd, r, sizeof *r) == sizeof *r && (is("unsummed") || (r->number != 0 && r->sum == r->number * 3));
}

static void log_print(void)
{
	const int fd = file_open("log", O_RDONLY);
	struct record r;

	while (is_whole(fd, &r))
		printf("%d\n", (int)r.number);
	close(fd);
}

/* Recovery cuts off what is not whole, or does not; the next record comes behind it. */
static void log_go_on(void)
{
	const int fd = file_open("log", O_RDWR);
	const struct record next = { 99, 99 * 3 };
	struct record r;
	off_t end = 0;

	while (is_whole(fd, &r))
		end += sizeof r;
	if (!is("uncut"))
		CHECK(ftruncate(fd, end) == 0);
	CHECK(lseek(fd, 0, SEEK_END) >= 0 && write(fd, &next, sizeof next) == sizeof next);
	lseek(fd, 0, SEEK_SET);
	while (is_whole(fd, &r))
		end = (off_t)r.number;
	CHECK(end == 99);
	close(fd);
}

/* ---- a file that is replaced ---- */

static void replace_load(void)
{
	for (int i = 1; i <= 2; i++) {
		const int fd = file_open("new", O_WRONLY | O_CREAT | O_TRUNC);
		char text[600];

		memset(text, '0' + i, sizeof text);
		CHECK(write(fd, text, sizeof text) == sizeof text); /* BUG: early: rename-before-fsync write */
		if (!is("early"))
			CHECK(fsync(fd) == 0);
		close(fd);
		CHECK(renameat(folder, "new", folder, "file") == 0); /* BUG: early: rename-before-fsync rename */ /* BUG: unnamed: missing-dir-fsync name */
		if (!is("unnamed"))
			CHECK(fsync(folder) == 0);
		done(i);
	}
}

static void replace_print(void)
{
	const int fd = openat(folder, "file", O_RDONLY);
	char text[601];

	if (fd < 0) {
		puts("none");
		return;
	}
	CHECK(read(fd, text, sizeof text) == 600);
	for (int i = 1; i < 600; i++)
		CHECK(text[i] == text[0]);
	printf("%c\n", text[0]);
	close(fd);
}

/* ---- what is right where a journal keeps names in order (ext4), and not on every file system ---- */

static void config_make(void)
{
	const int fd = file_open("file", O_WRONLY | O_CREAT);

	CHECK(write(fd, "0", 1) == 1);
	close(fd);
}

/* Nothing is synced, and nothing is acknowledged: the old file or the new one is there. */
static void config_load(void)
{
	const int fd = file_open("new", O_WRONLY | O_CREAT | O_TRUNC);

	CHECK(write(fd, "1", 1) == 1); /* BUG: config: rename-before-fsync write */
	close(fd);
	CHECK(renameat(folder, "new", folder, "file") == 0); /* BUG: config: rename-before-fsync rename */
}

static void config_print(void)
{
	const int fd = file_open("file", O_RDONLY);
	char text;

	CHECK(read(fd, &text, 1) == 1 && text >= '0' && text <= '2');
	close(fd);
}

/* A file that is synced has its name. */
static void created_load(void)
{
	const int fd = file_open("file", O_WRONLY | O_CREAT);

	CHECK(write(fd, "1", 1) == 1 && fsync(fd) == 0);
	close(fd);
	done(1);
}

static void created_print(void)
{
	const int fd = openat(folder, "file", O_RDONLY);
	char text = '0';

	if (fd >= 0 && (read(fd, &text, 1) != 1 || text != '1'))
		text = '0'; /* it is being made */
	printf("%c\n", text);
	close(fd);
}

/* A file of the next generation is there before the old one goes, in two folders; the sync comes later, and of something else. */
static void ordered_make(void)
{
	CHECK(mkdirat(folder, "inner", 0700) == 0);
	close(file_open("inner/old", O_WRONLY | O_CREAT));
}

static void ordered_load(void)
{
	const int fd = file_open("new", O_WRONLY | O_CREAT);

	CHECK(unlinkat(folder, "inner/old", 0) == 0); /* BUG: ordered: ordering survived */
	CHECK(fsync(fd) == 0);
	close(fd);
}

static void ordered_print(void)
{
	CHECK(faccessat(folder, "new", F_OK, 0) == 0 || faccessat(folder, "inner/old", F_OK, 0) == 0);
}

/* ---- a file that moves to another folder ---- */

static void move_make(void)
{
	CHECK(mkdirat(folder, "inner", 0700) == 0);
	close(file_open("inner/file", O_WRONLY | O_CREAT));
}

static void move_load(void)
{
	const int inner = file_open("inner", O_RDONLY | O_DIRECTORY);

	CHECK(renameat(inner, "file", folder, "file") == 0); /* BUG: moved: atomicity lost */ /* BUG: moved: atomicity survived */
	CHECK(fsync(folder) == 0 && fsync(inner) == 0);
	done(1);
}

static void move_print(void)
{
	CHECK(faccessat(folder, "file", F_OK, 0) == 0 || faccessat(folder, "inner/file", F_OK, 0) == 0);
}

/* ---- data in place, its old content in a journal, which is cut to commit ---- */

#define DATA_BYTES 1024

static void journal_make(void)
{
	const int data = file_open("data", O_WRONLY | O_CREAT), journal = file_open("journal", O_WRONLY | O_CREAT);
	char text[DATA_BYTES];

	memset(text, '0', sizeof text);
	CHECK(write(data, text, sizeof text) == sizeof text);
	close(data);
	close(journal);
}

static void journal_load(void)
{
	const int data = file_open("data", O_RDWR), journal = file_open("journal", O_RDWR);
	char text[DATA_BYTES];

	for (int i = 1; i <= 2; i++) {
		CHECK(pread(data, text, DATA_BYTES, 0) == DATA_BYTES);
		CHECK(pwrite(journal, text, DATA_BYTES, 0) == DATA_BYTES); /* BUG: valid: ordering lost */
		if (!is("valid"))
			CHECK(fdatasync(journal) == 0);
		CHECK(pwrite(journal, "C", 1, DATA_BYTES) == 1); /* BUG: valid: ordering survived */ /* BUG: undo: ordering lost */
		if (!is("undo"))
			CHECK(fdatasync(journal) == 0);
		memset(text, '0' + i, DATA_BYTES);
		CHECK(pwrite(data, text, DATA_BYTES, 0) == DATA_BYTES); /* BUG: undo: ordering survived */ /* BUG: committed: ordering lost */
		if (!is("committed"))
			CHECK(fdatasync(data) == 0);
		CHECK(ftruncate(journal, 0) == 0); /* BUG: committed: ordering survived */
		CHECK(fdatasync(journal) == 0);
		if (is("committed"))
			CHECK(fdatasync(data) == 0);
		done(i);
	}
}

static void journal_print(void)
{
	const int data = file_open("data", O_RDWR), journal = file_open("journal", O_RDWR);
	char text[DATA_BYTES + 1];

	if (pread(journal, text, DATA_BYTES + 1, 0) == DATA_BYTES + 1 && text[DATA_BYTES] == 'C') {
		CHECK(pwrite(data, text, DATA_BYTES, 0) == DATA_BYTES); /* BUG: again: ordering lost */
		if (!is("again"))
			CHECK(fsync(data) == 0);
		CHECK(ftruncate(journal, 0) == 0); /* BUG: again: ordering survived */
	}
	CHECK(pread(data, text, DATA_BYTES, 0) == DATA_BYTES);
	for (int i = 1; i < DATA_BYTES; i++)
		CHECK(text[i] == text[0]);
	printf("%c\n", text[0]);
}

/* ---- a mapped file, with a log of what is stored to it ---- */

#define MAP_WORDS 512
#define FAR_WORD 100 /* in another sector than the first */

struct change {
	uint64_t number, value, sum;
};

static uint64_t *map_open(void)
{
	const int fd = file_open("map", O_RDWR);
	uint64_t *map = mmap(NULL, MAP_WORDS * sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(map != MAP_FAILED);
	close(fd);
	return map;
}

static void map_make(void)
{
	const int map = file_open("map", O_WRONLY | O_CREAT), log = file_open("changes", O_WRONLY | O_CREAT);

	CHECK(ftruncate(map, MAP_WORDS * sizeof(uint64_t)) == 0);
	close(map);
	close(log);
}

static void map_load(void)
{
	const int log = file_open("changes", O_WRONLY | O_APPEND);
	volatile uint64_t *map = map_open();

	for (uint64_t i = 1; i <= 2; i++) {
		const struct change c = { i, i * 7, i * 9 };

		CHECK(write(log, &c, sizeof c) == sizeof c); /* BUG: unlogged: ordering lost */
		if (!is("unlogged"))
			CHECK(fdatasync(log) == 0);
		map[FAR_WORD] = c.value; /* BUG: unlogged: ordering survived */ /* BUG: unmapped: ordering lost */
		if (!is("unmapped"))
			CHECK(msync((void *)map, MAP_WORDS * sizeof *map, MS_SYNC) == 0);
		map[0] = i; /* BUG: unmapped: ordering survived */
		CHECK(msync((void *)map, MAP_WORDS * sizeof *map, MS_SYNC) == 0);
		done((int)i);
	}
	close(log);
}

static void map_print(void)
{
	const int log = file_open("changes", O_RDONLY);
	uint64_t *map = map_open();
	struct change c;

	while (read(log, &c, sizeof c) == sizeof c && c.number != 0 && c.sum == c.number * 9)
		if (c.number > map[0]) {
			map[FAR_WORD] = c.value;
			map[0] = c.number;
		}
	CHECK(map[FAR_WORD] == map[0] * 7);
	printf("%d\n", (int)map[0]);
	close(log);
}

/* ---- persistent memory in the same folder, with a log of what is stored to it ---- */

static volatile uint64_t *pool_map(void)
{
	const int fd = file_open("pool", O_RDWR);
	volatile uint64_t *pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK((void *)pool != MAP_FAILED);
	close(fd);
	return pool;
}

static void pool_make(void)
{
	const int pool = file_open("pool", O_WRONLY | O_CREAT), log = file_open("changes", O_WRONLY | O_CREAT);

	CHECK(ftruncate(pool, 4096) == 0);
	close(pool);
	close(log);
}

/* What the log says is in the pool when the number says so. */
static void pool_load(void)
{
	const int log = file_open("changes", O_WRONLY | O_APPEND);
	volatile uint64_t *pool = pool_map();

	for (uint64_t i = 1; i <= 2; i++) {
		const struct change c = { i, i * 7, i * 9 };

		CHECK(write(log, &c, sizeof c) == sizeof c); /* BUG: poollog: ordering lost */
		if (!is("poollog"))
			CHECK(fdatasync(log) == 0);
		pool[FAR_WORD] = c.value; /* BUG: poollog: ordering survived */ /* BUG: poolvalue: ordering lost */
		flush_line(&pool[FAR_WORD]);
		if (!is("poolvalue"))
			fence();
		pool[0] = i; /* BUG: poolvalue: ordering survived */ /* BUG: poolcut: ordering lost */
		if (!is("poolcut"))
			flush_line(&pool[0]);
		fence();
		if (is("poolcut")) {
			CHECK(ftruncate(log, 0) == 0); /* BUG: poolcut: ordering survived */
			flush_line(&pool[0]);
			fence();
		}
		done((int)i);
	}
	close(log);
}

static void pool_print(void)
{
	const int log = file_open("changes", O_RDONLY);
	volatile uint64_t *pool = pool_map();
	struct change c;

	while (read(log, &c, sizeof c) == sizeof c && c.number != 0 && c.sum == c.number * 9)
		if (c.number > pool[0]) {
			pool[FAR_WORD] = c.value;
			pool[0] = c.number;
		}
	CHECK(pool[FAR_WORD] == pool[0] * 7);
	printf("%d\n", (int)pool[0]);
	close(log);
}

/* ---- */

static const struct filed_case cases[] = {
	{ "log", log_make, log_load, log_print, log_go_on },
	{ "uncut", log_make, log_load, log_print, log_go_on }, /* only if the program goes on */
	{ "unsummed", log_make, log_load, log_print, NULL },
	{ "unsynced", log_make, log_load, log_print, NULL },
	{ "replace", log_make, replace_load, replace_print, NULL },
	{ "early", log_make, replace_load, replace_print, NULL },
	{ "unnamed", log_make, replace_load, replace_print, NULL },
	{ "config", config_make, config_load, config_print, NULL },
	{ "created", log_make, created_load, created_print, NULL },
	{ "ordered", ordered_make, ordered_load, ordered_print, NULL },
	{ "moved", move_make, move_load, move_print, NULL },
	{ "journal", journal_make, journal_load, journal_print, NULL },
	{ "valid", journal_make, journal_load, journal_print, NULL },
	{ "undo", journal_make, journal_load, journal_print, NULL },
	{ "committed", journal_make, journal_load, journal_print, NULL },
	{ "again", journal_make, journal_load, journal_print, NULL }, /* only after a crash during recovery */
	{ "mapped", map_make, map_load, map_print, NULL },
	{ "unlogged", map_make, map_load, map_print, NULL },
	{ "unmapped", map_make, map_load, map_print, NULL },
	{ "pool", pool_make, pool_load, pool_print, NULL },
	{ "poollog", pool_make, pool_load, pool_print, NULL },
	{ "poolvalue", pool_make, pool_load, pool_print, NULL },
	{ "poolcut", pool_make, pool_load, pool_print, NULL },
};

int main(int argc, char **argv)
{
	return filed_main(cases, sizeof cases / sizeof *cases, argc, argv);
}
