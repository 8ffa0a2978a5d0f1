/* A child's stores to a shared mapping change the same PM: one ordered trace. Pipes decide who goes when.
 * Usage: fork DIR (exec-seen | exec-unseen): whether the recorder follows exec. */
#include "tests/recorder/expect.h"

#include <sys/wait.h>

typedef volatile uint64_t vu64;

static int to_child[2], to_parent[2];

static void wake(int fd)
{
	CHECK(write(fd, "", 1) == 1);
}

static void wait_for(int fd)
{
	char c;

	CHECK(read(fd, &c, 1) == 1);
}

static void process_store(vu64 *p, uint64_t value, int process)
{
	*p = value;
	expect_begin("store");
	expect_place(p);
	expect_key_number("size", 8);
	expect_hex((const volatile unsigned char *)p, 8);
	expect_key_text("function", __func__);
	if (process >= 0)
		expect_key_number("process", (uint64_t)process);
	expect_end();
}

static void ping_pong(char *pool)
{
	pid_t child;
	int status;

	CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
	process_store((vu64 *)pool, 1, 0);
	child = fork();
	CHECK(child >= 0);
	for (uint64_t i = 0; i < 20; i++)
		if (child == 0) {
			wait_for(to_child[0]);
			process_store((vu64 *)(pool + 64), 100 + i, 1);
			wake(to_parent[1]);
		} else {
			process_store((vu64 *)(pool + 128), 200 + i, 0);
			process_store((vu64 *)(pool + 64), i, 0); /* the same bytes: the order shows in the replay */
			wake(to_child[1]);
			wait_for(to_parent[0]);
		}
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			process_store((vu64 *)(pool + 192), 300, 2);
			_exit(0);
		}
		CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
		process_store((vu64 *)(pool + 200), 301, 1);
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WEXITSTATUS(status) == 7);
	process_store((vu64 *)(pool + 208), 302, 0);
}

/* The child maps a pool of its own after the fork, and shares the old one. */
static void child_maps(const char *dir, char *pool)
{
	const char *path = pool_path(dir, "child");
	pid_t child = fork();
	int status;

	if (child == 0) {
		char *own = pool_map(path, 4096);

		process_store((vu64 *)own, 400, 3);
		process_store((vu64 *)(pool + 256), 401, 3);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	process_store((vu64 *)(pool + 264), 402, 0);
}

static void execs(char **argv, char *pool)
{
	pid_t child = vfork();
	int status;

	if (child == 0) {
		execl(argv[0], argv[0], argv[1], argv[2], "executed", (char *)NULL);
		_exit(1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	process_store((vu64 *)(pool + 512), 500, 0);
}

int main(int argc, char **argv)
{
	char *pool;

	CHECK(argc >= 3);
	if (argc == 4) {
		expect_at_once = !strcmp(argv[2], "exec-seen");
		pool = pool_map(pool_path(argv[1], "executed"), 4096);
		process_store((vu64 *)pool, 600, -1);
		process_store((vu64 *)(pool + 64), 601, -1);
		if (!expect_at_once)
			_exit(0);
		return 0;
	}
	expect_at_once = 1;
	pool = pool_map(pool_path(argv[1], "pool"), 4096);
	ping_pong(pool);
	child_maps(argv[1], pool);
	execs(argv, pool);
	return 0;
}
