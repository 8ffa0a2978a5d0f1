/* Logs beside a pool, which --pm '+*.log' follows: written and not mapped. Nothing is expected event by event: the replayed trace must give the files as they are at the end. `old.log` and
 * `replaced.log` were there before the program. */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#include "tests/recorder/expect.h"

static const char *folder;

static int log_open(const char *name, int flags)
{
	int fd = open(pool_path(folder, name), flags, 0600);

	CHECK(fd >= 0);
	return fd;
}

static void say(int fd, const char *text)
{
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* One log was written before anything was mapped, one was there before the program, one begins anew. */
static void before_and_after(int early)
{
	int old = log_open("old.log", O_WRONLY | O_APPEND), fd;

	say(early, "after the pool");
	say(old, "more");
	fd = log_open("early.log", O_WRONLY | O_TRUNC);
	say(fd, "again");
	CHECK(pwrite(early, "beyond the end", 14, 9000) == 14);
	CHECK(ftruncate(fd, 9003) == 0);
}

static void names(void)
{
	int next = log_open("next.log", O_RDWR | O_CREAT), gone = log_open("gone.log", O_RDWR | O_CREAT);

	say(next, "what replaces it");
	CHECK(rename(pool_path(folder, "next.log"), pool_path(folder, "replaced.log")) == 0);
	say(next, ", and goes on");
	say(gone, "not for long");
	CHECK(unlink(pool_path(folder, "gone.log")) == 0);
	gone = log_open("gone.log", O_RDWR | O_CREAT);
	say(gone, "another one");
}

/* A log that is mapped later is a pool from then on. */
static void mapped_later(void)
{
	int fd = log_open("later.log", O_RDWR | O_CREAT);
	char *p;

	say(fd, "at first");
	CHECK(ftruncate(fd, 4096) == 0);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	p[100] = 7;
	say(fd, ", then");
}

static void others(char *pool)
{
	int copied = log_open("copied.log", O_RDWR | O_CREAT), from = log_open("old.log", O_RDONLY);
	pid_t child = fork();

	if (child == 0) {
		say(log_open("child.log", O_RDWR | O_CREAT), "from the child");
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	CHECK(sendfile(copied, from, NULL, 5) == 5);
	say(log_open("other.txt", O_RDWR | O_CREAT), "not followed");
	pool[1] = 2;
}

int main(int argc, char **argv)
{
	char *pool;
	int early;

	CHECK(argc == 2);
	folder = argv[1];
	early = log_open("early.log", O_WRONLY | O_CREAT);
	say(early, "before the pool ");
	pool = pool_map(pool_path(folder, "pool"), 4096);
	pool[0] = 1;
	before_and_after(early);
	names();
	mapped_later();
	others(pool);
	return 0;
}
