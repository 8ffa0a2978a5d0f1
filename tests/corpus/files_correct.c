/* CHECK: --files-except *.log */
/* Programs that keep files correctly: nothing may be found. */
#include <pthread.h>

#include "tests/corpus/files.h"

static void rename_replace(void)
{
	int fd;

	close(make_durable("config", "old"));
	fd = make("config.new", O_WRONLY);
	PUT(fd, "new");
	CHECK(fsync(fd) == 0 && rename("config.new", "config") == 0);
	sync_folder(".");
}

static void append_log(void)
{
	int fd = make_durable("log", "begin\n");

	for (int i = 0; i < 3; i++) {
		PUT(fd, "record\n");
		CHECK(fdatasync(fd) == 0);
	}
}

/* Each write is durable when it returns. */
static void synchronous(void)
{
	int fd = make("log", O_WRONLY | O_DSYNC);

	PUT(fd, "one\n");
	PUT(fd, "two\n");
	sync_folder(".");
	close(fd);
}

static void manifest_and_current(void)
{
	close(make_durable("MANIFEST-1", "tables"));
	close(make_durable("CURRENT", "MANIFEST-1"));
	close(make_durable("MANIFEST-2", "tables"));
	close(make_durable("CURRENT.tmp", "MANIFEST-2"));
	CHECK(rename("CURRENT.tmp", "CURRENT") == 0);
	sync_folder(".");
	CHECK(unlink("MANIFEST-1") == 0);
	sync_folder(".");
}

static void segments(void)
{
	int table = make_durable("table", "row 1\n"), log;

	close(make_durable("log.1", "row 2\n"));
	PUT(table, "row 2\n");
	CHECK(fsync(table) == 0 && unlink("log.1") == 0);
	log = make("log.2", O_WRONLY);
	PUT(log, "row 3\n");
	CHECK(fsync(log) == 0);
	sync_folder(".");
}

static void truncate_to_commit(void)
{
	int journal = make_durable("journal", ""), data = make_durable("data", "old");

	PUT(journal, "old");
	CHECK(fsync(journal) == 0 && pwrite(data, "new", 3, 0) == 3 && fsync(data) == 0);
	CHECK(ftruncate(journal, 0) == 0 && fsync(journal) == 0);
}

/* A mapped index beside a log. */
static void mapped_and_log(void)
{
	int index = make("index", O_RDWR), log;
	volatile char *p;

	CHECK(ftruncate(index, 4096) == 0 && fsync(index) == 0);
	log = make_durable("log", "begin\n"); /* syncs the folder, too */
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, index, 0);
	PUT(log, "one\n");
	CHECK(fdatasync(log) == 0);
	p[0]++;
	CHECK(msync((void *)p, 4096, MS_SYNC) == 0);
}

/* What nobody needs after a crash: a file that is gone in the end, one that never had a name, and one that is left out. */
static void temporary(void)
{
	int fd = make("sorted.tmp", O_RDWR);

	PUT(fd, "rows");

	CHECK(unlink("sorted.tmp") == 0);
	PUT(fd, "more rows");
	fd = open(".", O_TMPFILE | O_RDWR, 0600);
	CHECK(fd >= 0);
	PUT(fd, "rows");
	fd = make("server.log", O_WRONLY);
	PUT(fd, "started\n");
}

static void nameless_linked(void)
{
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600);
	char path[64];

	CHECK(fd >= 0);
	PUT(fd, "whole");
	CHECK(fsync(fd) == 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	CHECK(linkat(AT_FDCWD, path, AT_FDCWD, "whole", AT_SYMLINK_FOLLOW) == 0);
	sync_folder(".");
}

static void *append_thread(void *arg)
{
	PUT(*(int *)arg, "from a thread\n");
	return NULL;
}

static void threads(void)
{
	int fd = make_durable("log", "begin\n");
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, append_thread, &fd) == 0 && pthread_join(thread, NULL) == 0);
	CHECK(fsync(fd) == 0); /* what another thread wrote */
}

/* One process writes, another one syncs. */
static void processes(void)
{
	int fd = make_durable("log", "begin\n"), status;

	if (fork() == 0) {
		PUT(fd, "from a child\n");
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0 && fsync(fd) == 0);
}

static void all_at_once(void)
{
	CHECK(mkdir("folder", 0755) == 0);
	PUT(make("folder/a", O_WRONLY), "a");
	PUT(make("folder/b", O_WRONLY), "b");
	sync();
}

int main(int argc, char **argv)
{
	static const struct files_case cases[] = {
		{ "rename_replace", rename_replace }, { "append_log", append_log },
		{ "synchronous", synchronous },	      { "manifest_and_current", manifest_and_current },
		{ "segments", segments },	      { "truncate_to_commit", truncate_to_commit },
		{ "mapped_and_log", mapped_and_log }, { "temporary", temporary },
		{ "nameless_linked", nameless_linked }, { "threads", threads },
		{ "processes", processes },	      { "all_at_once", all_at_once },
	};

	CHECK(argc == 2);
	run_cases(argv[1], cases, sizeof cases / sizeof *cases);
	return 0;
}
