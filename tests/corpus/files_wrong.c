/* What goes wrong with files: in each case a sync is missing, late, or one too many. */
#include "tests/corpus/files.h"

/* The new version replaces the old one before it is durable. */
static void rename_replace(void)
{
	int fd;

	close(make_durable("config", "old"));
	fd = make("config.new", O_WRONLY);
	PUT(fd, "new");
	CHECK(rename("config.new", "config") == 0); /* BUG: rename-before-fsync */
	CHECK(fsync(fd) == 0);
	sync_folder(".");
}

/* No file had the name: recovery may notice that this one is not whole. */
static void rename_new(void)
{
	int fd = make("table.tmp", O_WRONLY);

	PUT(fd, "rows");
	CHECK(rename("table.tmp", "table") == 0); /* WARNING: rename-before-fsync */
	CHECK(fsync(fd) == 0);
	sync_folder(".");
}

static void append_log(void)
{
	int fd = make_durable("log", "begin\n");

	PUT(fd, "one\n");
	CHECK(fdatasync(fd) == 0);
	PUT(fd, "two\n"); /* BUG: missing-fsync */
}

static void never_synced(void)
{
	int fd = make("log", O_WRONLY | O_APPEND);

	PUT(fd, "one\n"); /* BUG: missing-fsync */
	CHECK(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0); /* promises nothing */
}

static void manifest_and_current(void)
{
	int fd = make("MANIFEST-2", O_WRONLY), current;

	PUT(fd, "tables");
	CHECK(fsync(fd) == 0);
	close(make_durable("CURRENT", "MANIFEST-1"));
	current = make("CURRENT.tmp", O_WRONLY);
	PUT(current, "MANIFEST-2");
	CHECK(rename("CURRENT.tmp", "CURRENT") == 0); /* BUG: rename-before-fsync */
	sync_folder(".");
}

/* What the log held is in the table now, which is not durable yet. */
static void segment_unlinked(void)
{
	int table = make_durable("table", "row 1\n");

	close(make_durable("log.1", "row 2\n"));
	PUT(table, "row 2\n");
	CHECK(unlink("log.1") == 0); /* BUG: unlink-before-durable */
	CHECK(fsync(table) == 0);
	sync_folder(".");
}

static void folder_not_synced(void)
{
	int fd;

	close(make_durable("log", "data"));
	fd = open("new", O_CREAT | O_WRONLY, 0644); /* BUG: missing-dir-fsync */
	PUT(fd, "data");
	CHECK(fsync(fd) == 0);
	CHECK(mkdir("later", 0755) == 0); /* nobody keeps anything there */
}

static void removal_not_synced(void)
{
	close(make_durable("journal", "undo"));
	CHECK(unlink("journal") == 0); /* BUG: missing-dir-fsync */
}

static void truncate_to_commit(void)
{
	int fd = make_durable("journal", "undo");

	CHECK(ftruncate(fd, 0) == 0); /* BUG: missing-fsync */
}

static void mapped(void)
{
	int fd = make("index", O_RDWR);
	volatile char *p;

	CHECK(ftruncate(fd, 8192) == 0 && fsync(fd) == 0);
	sync_folder(".");
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[0] = 1;
	CHECK(msync((void *)p, 4096, MS_SYNC) == 0);
	p[4096] = 1; /* BUG: missing-fsync */
	CHECK(msync((void *)p, 8192, MS_ASYNC) == 0);
}

static void synced_twice(void)
{
	int fd = make_durable("log", "record");

	CHECK(fdatasync(fd) == 0); /* BUG: redundant-fsync */
	PUT(fd, "more");
	CHECK(fdatasync(fd) == 0);
}

int main(int argc, char **argv)
{
	static const struct files_case cases[] = {
		{ "rename_replace", rename_replace },	    { "rename_new", rename_new },
		{ "append_log", append_log },		    { "never_synced", never_synced },
		{ "manifest_and_current", manifest_and_current }, { "segment_unlinked", segment_unlinked },
		{ "folder_not_synced", folder_not_synced }, { "removal_not_synced", removal_not_synced },
		{ "truncate_to_commit", truncate_to_commit }, { "mapped", mapped },
		{ "synced_twice", synced_twice },
	};

	CHECK(argc == 2);
	run_cases(argv[1], cases, sizeof cases / sizeof *cases);
	return 0;
}
