/* Stores that keep data in several files, or by several calls, threads and processes, right and wrong. The arguments are those of filed.h. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "pmend.h"
#include "tests/crash/filed.h"

static int file_open(const char *path, int flags)
{
	const int fd = openat(folder, path, flags, 0600); /* BUG: hanging: missing-dir-fsync name */

	CHECK(fd >= 0);
	return fd;
}

/* Makes a file that is there before. */
static void file_make(const char *path, const void *content, size_t len_bytes)
{
	const int fd = file_open(path, O_WRONLY | O_CREAT);

	CHECK(write(fd, content, len_bytes) == (ssize_t)len_bytes);
	close(fd);
}

/* ---- pages in place, each written to another file first ---- */

struct page {
	uint64_t number;
	char body[1000];
	uint64_t sum;
};

static struct page page_of(uint64_t number)
{
	struct page p = { .number = number, .sum = number * 5 + 1 };

	memset(p.body, 'a' + (int)number, sizeof p.body);
	return p;
}

static int page_is_whole(const struct page *p)
{
	const struct page want = page_of(p->number);

	return p->number < 20 && memcmp(p, &want, sizeof want) == 0;
}

static void double_make(void)
{
	const struct page p = page_of(0);

	file_make("pages", &p, sizeof p);
	file_make("twice", &p, sizeof p);
}

static void double_load(void)
{
	const int pages = file_open("pages", O_RDWR), twice = file_open("twice", O_RDWR);

	for (int i = 1; i <= 2; i++) {
		const struct page p = page_of((uint64_t)i);

		CHECK(pwrite(twice, &p, sizeof p, 0) == sizeof p); /* BUG: torn: ordering lost */
		if (!is("torn"))
			CHECK(fdatasync(twice) == 0);
		CHECK(pwrite(pages, &p, sizeof p, 0) == sizeof p); /* BUG: torn: ordering survived */
		CHECK(fdatasync(pages) == 0);
		done(i);
	}
}

static void double_print(void)
{
	const int pages = file_open("pages", O_RDONLY), twice = file_open("twice", O_RDONLY);
	struct page p;

	CHECK(read(pages, &p, sizeof p) == sizeof p);
	if (!page_is_whole(&p))
		CHECK(read(twice, &p, sizeof p) == sizeof p && page_is_whole(&p));
	printf("%d\n", (int)p.number);
}

/* ---- tables, and a file that names the current one ---- */

static void table_name(char *out, size_t len_bytes, int i)
{
	snprintf(out, len_bytes, "table-%d", i);
}

static void manifest_make(void)
{
	file_make("table-0", "table 0", 7);
	file_make("CURRENT", "0", 1);
}

static void manifest_load(void)
{
	for (int i = 1; i <= 2; i++) {
		char table[16], old[16], text[16];
		int fd;

		table_name(table, sizeof table, i);
		table_name(old, sizeof old, i - 1);
		fd = file_open(table, O_WRONLY | O_CREAT | O_EXCL);
		snprintf(text, sizeof text, "table %d", i);
		CHECK(write(fd, text, 7) == 7); /* BUG: empty: ordering lost */
		if (!is("empty"))
			CHECK(fsync(fd) == 0);
		close(fd);
		fd = file_open("next", O_WRONLY | O_CREAT | O_TRUNC);
		snprintf(text, sizeof text, "%d", i);
		CHECK(write(fd, text, 1) == 1 && fsync(fd) == 0);
		close(fd);
		CHECK(fsync(folder) == 0);
		CHECK(renameat(folder, "next", folder, "CURRENT") == 0); /* BUG: empty: ordering survived */ /* BUG: swept: ordering lost */
		if (!is("swept"))
			CHECK(fsync(folder) == 0);
		CHECK(unlinkat(folder, old, 0) == 0); /* BUG: swept: ordering survived */
		if (is("swept"))
			CHECK(fsync(folder) == 0);
		done(i);
	}
	CHECK(fsync(folder) == 0);
}

static void manifest_print(void)
{
	const int current = file_open("CURRENT", O_RDONLY);
	char number = 0, table[16], text[8] = "";
	int fd;

	CHECK(read(current, &number, 1) == 1 && number >= '0' && number <= '2');
	table_name(table, sizeof table, number - '0');
	fd = file_open(table, O_RDONLY);
	CHECK(read(fd, text, 7) == 7 && text[6] == number);
	printf("%c\n", number);
}

/* ---- a log in segments, of which the oldest goes when a checkpoint has what it held ---- */

static void segment_name(char *out, size_t len_bytes, uint64_t i)
{
	snprintf(out, len_bytes, "segment-%d", (int)i);
}

static void segments_make(void)
{
	const uint64_t none[2] = { 0, 0 };

	file_make("checkpoint", none, sizeof none);
}

/* Both words are in one sector. */
static void checkpoint_write(uint64_t number)
{
	const int fd = file_open("checkpoint", O_WRONLY);
	const uint64_t words[2] = { number, number * 3 };

	CHECK(pwrite(fd, words, sizeof words, 0) == sizeof words); /* BUG: rotated: unlink-before-durable write */
	if (!is("rotated"))
		CHECK(fdatasync(fd) == 0);
	close(fd);
}

static void segments_load(void)
{
	for (uint64_t i = 1; i <= 3; i++) {
		const uint64_t record[2] = { i, i * 7 };
		char segment[16];
		int fd;

		segment_name(segment, sizeof segment, i);
		fd = file_open(segment, O_WRONLY | O_CREAT | O_APPEND);
		CHECK(write(fd, record, sizeof record) == sizeof record && fsync(fd) == 0 && fsync(folder) == 0);
		close(fd);
		done((int)i);
		if (i == 1)
			continue;
		checkpoint_write(i - 1);
		segment_name(segment, sizeof segment, i - 1);
		CHECK(unlinkat(folder, segment, 0) == 0); /* BUG: rotated: unlink-before-durable unlink */
		CHECK(fsync(folder) == 0);
	}
	if (is("rotated"))
		sync(); /* BUG: rotated: unlink-before-durable fsync */
}

static void segments_print(void)
{
	const int checkpoint = file_open("checkpoint", O_RDONLY);
	uint64_t words[2], number;

	CHECK(read(checkpoint, words, sizeof words) == sizeof words && words[1] == words[0] * 3);
	number = words[0];
	for (uint64_t i = number + 1;; i++) {
		char segment[16];
		int fd;

		segment_name(segment, sizeof segment, i);
		fd = openat(folder, segment, O_RDONLY);
		if (fd < 0 || read(fd, words, sizeof words) != sizeof words || words[0] != i || words[1] != i * 7)
			break;
		close(fd);
		number = i;
	}
	printf("%d\n", (int)number);
}

/* ---- pages that are never written in place, and a root that names the current one ---- */

#define SHADOW_BYTES 4096

static void shadow_make(void)
{
	const int fd = file_open("shadow", O_WRONLY | O_CREAT);
	const struct page p = page_of(0);

	CHECK(pwrite(fd, &p, sizeof p, SHADOW_BYTES) == sizeof p);
	CHECK(ftruncate(fd, 3 * SHADOW_BYTES) == 0);
	close(fd);
}

static void shadow_load(void)
{
	const int fd = file_open("shadow", O_RDWR);

	for (uint64_t i = 1; i <= 2; i++) {
		const struct page p = page_of(i);
		const uint64_t root[2] = { i % 2, i };

		CHECK(pwrite(fd, &p, sizeof p, (off_t)(1 + i % 2) * SHADOW_BYTES) == sizeof p); /* BUG: root: ordering lost */
		if (!is("root"))
			CHECK(fdatasync(fd) == 0);
		CHECK(pwrite(fd, root, sizeof root, 0) == sizeof root); /* BUG: root: ordering survived */
		CHECK(fdatasync(fd) == 0);
		done((int)i);
	}
}

static void shadow_print(void)
{
	const int fd = file_open("shadow", O_RDONLY);
	uint64_t root[2];
	struct page p;

	CHECK(pread(fd, root, sizeof root, 0) == sizeof root);
	CHECK(pread(fd, &p, sizeof p, (off_t)(1 + root[0]) * SHADOW_BYTES) == sizeof p);
	CHECK(page_is_whole(&p) && p.number == root[1]);
	printf("%d\n", (int)p.number);
}

/* ---- a log that is written past the page cache ---- */

#define BLOCK_BYTES 4096

static void direct_make(void)
{
	const int fd = file_open("direct", O_WRONLY | O_CREAT);

	CHECK(ftruncate(fd, 3 * BLOCK_BYTES) == 0);
	close(fd);
}

static void direct_load(void)
{
	int fd = openat(folder, "direct", O_WRONLY | O_DIRECT);
	uint64_t *block = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);

	if (fd < 0 && errno == EINVAL) /* not every file system has it */
		fd = file_open("direct", O_WRONLY);
	CHECK(fd >= 0 && block);
	memset(block, 0, BLOCK_BYTES);
	for (uint64_t i = 1; i <= 2; i++) {
		block[0] = i;
		CHECK(pwrite(fd, block, BLOCK_BYTES, (off_t)i * BLOCK_BYTES) == BLOCK_BYTES); /* BUG: undirected: missing-fsync write */
		if (!is("undirected"))
			CHECK(fdatasync(fd) == 0);
		done((int)i);
	}
	free(block);
}

static void direct_print(void)
{
	const int fd = file_open("direct", O_RDONLY);
	uint64_t number = 0, word;

	for (uint64_t i = 1; i <= 2; i++)
		if (pread(fd, &word, sizeof word, (off_t)i * BLOCK_BYTES) == sizeof word && word == i)
			number = i;
	printf("%d\n", (int)number);
}

/* ---- one file: its header is mapped, its records are written ---- */

static void both_make(void)
{
	const int fd = file_open("both", O_WRONLY | O_CREAT);

	CHECK(ftruncate(fd, 4096) == 0);
	close(fd);
}

static void both_load(void)
{
	const int fd = file_open("both", O_RDWR);
	volatile uint64_t *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK((void *)count != MAP_FAILED);
	for (uint64_t i = 1; i <= 2; i++) {
		const uint64_t record[2] = { i, i * 11 };

		CHECK(pwrite(fd, record, sizeof record, 4096 + (off_t)i * 16) == sizeof record); /* BUG: header: ordering lost */
		if (!is("header"))
			CHECK(fdatasync(fd) == 0);
		*count = i; /* BUG: header: ordering survived */
		CHECK(msync((void *)count, 4096, MS_SYNC) == 0);
		done((int)i);
	}
}

static void both_print(void)
{
	const int fd = file_open("both", O_RDONLY);
	uint64_t count, record[2];

	CHECK(pread(fd, &count, sizeof count, 0) == sizeof count);
	for (uint64_t i = 1; i <= count; i++)
		CHECK(pread(fd, record, sizeof record, 4096 + (off_t)i * 16) == sizeof record && record[0] == i && record[1] == i * 11);
	printf("%d\n", (int)count);
}

/* ---- two processes: one writes records, the other one counts them ---- */

static void relay_make(void)
{
	const uint64_t none = 0;

	file_make("records", "", 0);
	file_make("count", &none, sizeof none);
}

static void relay_load(void)
{
	const int records = file_open("records", O_WRONLY | O_APPEND);
	int turn[2], back[2], status;
	pid_t pid;
	char c = 0;

	CHECK(pipe(turn) == 0 && pipe(back) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		const int count = file_open("count", O_WRONLY);

		for (uint64_t i = 1; i <= 2; i++) {
			CHECK(read(turn[0], &c, 1) == 1);
			CHECK(pwrite(count, &i, sizeof i, 0) == sizeof i); /* BUG: relayed: ordering survived */
			CHECK(fdatasync(count) == 0);
			CHECK(write(back[1], &c, 1) == 1);
		}
		_exit(0);
	}
	for (uint64_t i = 1; i <= 2; i++) {
		const uint64_t record = i * 13;

		PMEND_OP_BEGIN("record"); /* what two processes do for it cannot be guessed */
		CHECK(write(records, &record, sizeof record) == sizeof record); /* BUG: relayed: ordering lost */
		if (!is("relayed"))
			CHECK(fdatasync(records) == 0);
		CHECK(write(turn[1], &c, 1) == 1 && read(back[0], &c, 1) == 1);
		if (is("relayed"))
			CHECK(fdatasync(records) == 0);
		PMEND_OP_END("record");
		done((int)i);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void relay_print(void)
{
	const int records = file_open("records", O_RDONLY), count = file_open("count", O_RDONLY);
	uint64_t n, record;

	CHECK(read(count, &n, sizeof n) == sizeof n);
	for (uint64_t i = 1; i <= n; i++)
		CHECK(read(records, &record, sizeof record) == sizeof record && record == i * 13);
	printf("%d\n", (int)n);
}

/* ---- threads: one writes, another one syncs for it ---- */

static sem_t wanted, synced;
static int group_fd;

static void *group_sync(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 2; i++) {
		CHECK(sem_wait(&wanted) == 0);
		CHECK(fdatasync(group_fd) == 0);
		CHECK(sem_post(&synced) == 0);
	}
	return NULL;
}

static void group_load(void)
{
	pthread_t syncer;

	group_fd = file_open("log", O_WRONLY | O_APPEND);
	CHECK(sem_init(&wanted, 0, 0) == 0 && sem_init(&synced, 0, 0) == 0);
	CHECK(pthread_create(&syncer, NULL, group_sync, NULL) == 0);
	for (uint64_t i = 1; i <= 2; i++) {
		const uint64_t record[2] = { i, i * 3 };

		CHECK(write(group_fd, record, sizeof record) == sizeof record); /* BUG: hasty: missing-fsync write */
		if (is("hasty"))
			done((int)i);
		CHECK(sem_post(&wanted) == 0 && sem_wait(&synced) == 0);
		if (!is("hasty"))
			done((int)i);
	}
	CHECK(pthread_join(syncer, NULL) == 0);
}

static void group_make(void)
{
	file_make("log", "", 0);
}

static void group_print(void)
{
	const int fd = file_open("log", O_RDONLY);
	uint64_t record[2], number = 0;

	while (read(fd, record, sizeof record) == sizeof record && record[0] == number + 1 && record[1] == record[0] * 3)
		number++;
	printf("%d\n", (int)number);
}

/* ---- a tree of folders ---- */

static void tree_make(void)
{
	CHECK(mkdirat(folder, "top", 0700) == 0);
}

static void tree_load(void)
{
	const int top = file_open("top", O_RDONLY | O_DIRECTORY);
	int inner, fd;

	CHECK(mkdirat(top, "inner", 0700) == 0);
	CHECK(fsync(top) == 0);
	inner = file_open("top/inner", O_RDONLY | O_DIRECTORY);
	fd = file_open("top/inner/leaf", O_WRONLY | O_CREAT);
	CHECK(write(fd, "1", 1) == 1 && fsync(fd) == 0);
	if (!is("hanging"))
		CHECK(fsync(inner) == 0);
	done(1);
}

static void tree_print(void)
{
	const int fd = openat(folder, "top/inner/leaf", O_RDONLY);
	char text = '0';

	if (fd >= 0 && (read(fd, &text, 1) != 1 || text != '1'))
		text = '0'; /* it is being made */
	printf("%c\n", text);
}

/* ---- */

static const struct filed_case cases[] = {
	{ "double", double_make, double_load, double_print, NULL },
	{ "torn", double_make, double_load, double_print, NULL },
	{ "manifest", manifest_make, manifest_load, manifest_print, NULL },
	{ "empty", manifest_make, manifest_load, manifest_print, NULL },
	{ "swept", manifest_make, manifest_load, manifest_print, NULL },
	{ "segments", segments_make, segments_load, segments_print, NULL },
	{ "rotated", segments_make, segments_load, segments_print, NULL },
	{ "shadow", shadow_make, shadow_load, shadow_print, NULL },
	{ "root", shadow_make, shadow_load, shadow_print, NULL },
	{ "direct", direct_make, direct_load, direct_print, NULL },
	{ "undirected", direct_make, direct_load, direct_print, NULL },
	{ "both", both_make, both_load, both_print, NULL },
	{ "header", both_make, both_load, both_print, NULL },
	{ "relay", relay_make, relay_load, relay_print, NULL },
	{ "relayed", relay_make, relay_load, relay_print, NULL },
	{ "group", group_make, group_load, group_print, NULL },
	{ "hasty", group_make, group_load, group_print, NULL },
	{ "tree", tree_make, tree_load, tree_print, NULL },
	{ "hanging", tree_make, tree_load, tree_print, NULL },
};

int main(int argc, char **argv)
{
	return filed_main(cases, sizeof cases / sizeof *cases, argc, argv);
}
