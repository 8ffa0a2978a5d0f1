/* Recovery that hangs, prints, eats, forks: it is contained, and nothing of it is left, even when we are killed. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/processes.h"
#include "tests/unit/runner_fixture.h"

static void test_hang(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1, 0);
	w.o.timeout_ms = 300;
	world_start(&w);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(world_run_new(&w, TARGET " %s", i ? "ignore-term" : "hang"), 0);
		assert_int_equal(w.result.end, RUN_HUNG);
		assert_true(w.result.time_us >= 250000);
	}
	runner_set_timeout(w.r, 30000);
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), 0);
	assert_exit(&w, 0);
	world_release(&w);
}

/* What ended late shows that ending takes long here; but not if the user said how long is too long. */
static void test_late(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct world w;

		world_init(&w, 1, 0);
		w.o.is_timeout_fixed = i == 1;
		world_start(&w);
		runner_set_timeout(w.r, 30000);
		assert_int_equal(world_run_new(&w, "sleep 0.2"), 0);
		assert_exit(&w, 0);
		runner_set_timeout(w.r, 300);
		if (i)
			assert_int_equal(runner_timeout(w.r), 300);
		else
			assert_in_range(runner_timeout(w.r), 800, 60000);
		world_release(&w);
	}
}

/* What a run tells the test is in a folder of its own: beside pools, runs write copies. */
static void told_path(char *path, size_t room, const struct world *w, const char *name)
{
	snprintf(path, room, "%s/told", w->folder);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	snprintf(path, room, "%s/told/%s", w->folder, name);
}

static void test_daemon(void **state)
{
	struct world w;
	char path[128];

	(void)state;
	world_init(&w, 1, 0);
	world_start(&w);
	told_path(path, sizeof path, &w, "pid");
	for (int i = 0; i < 2; i++) {
		unlink(path);
		assert_int_equal(world_run_new(&w, "%s daemon %s%s", i ? TARGET_STATIC : TARGET, i ? "{}" : path, i ? ".pid" : ""), 0);
		assert_exit(&w, 0);
		assert_int_equal(w.result.nkilled, 1);
		if (!i)
			assert_false(process_is_alive(read_pid(path)));
	}
	world_release(&w);
}

static void test_output(void **state)
{
	struct world w;
	uint64_t hash;

	(void)state;
	world_init(&w, 1, 0);
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " print 1000"), 0);
	assert_int_equal(w.result.output_len, 1000);
	hash = w.result.output_hash;
	assert_int_equal(world_run_new(&w, TARGET " print 1000"), 0);
	assert_int_equal(w.result.output_hash, hash);
	assert_int_equal(world_run_new(&w, TARGET " print 1001"), 0);
	assert_int_not_equal(w.result.output_hash, hash);
	assert_int_equal(world_run_new(&w, TARGET " print 33554496"), 0);
	assert_exit(&w, 0);
	assert_true(w.result.output_len <= w.o.output_bytes);
	assert_memory_equal(w.result.output, "beginxxx", 8);
	assert_string_equal(w.result.output + w.result.output_len - 5, "xend\n");
	assert_non_null(strstr(w.result.output, "33550400 bytes left out"));
	world_release(&w);
}

static void test_limits(void **state)
{
	struct world w;
	char *path;

	(void)state;
	world_init(&w, 1, 0);
	path = xasprintf("%s/big", w.folder);
	w.o.max_memory_bytes = 200 << 20;
	w.o.max_file_bytes = 3 << 20;
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " eat 20"), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run_new(&w, TARGET " eat 1000"), 0);
	assert_exit(&w, 4);
	assert_int_equal(world_run_new(&w, TARGET " fill %s 3", path), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run_new(&w, TARGET " fill %s 4", path), 0);
	assert_int_equal(w.result.end, RUN_SIGNALLED);
	assert_int_equal(w.result.code, SIGXFSZ);
	assert_int_equal(world_run_new(&w, TARGET_STATIC " eat 1000 {}"), 0);
	assert_exit(&w, 4);
	free(path);
	world_release(&w);
}

/* Runs that turn against their server. */
static void test_server_attacked(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, 1, 0);
	w.o.timeout_ms = 1000;
	world_start(&w);
	assert_int_equal(world_run_new(&w, TARGET " kill-parent"), -1);
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), 0);
	assert_exit(&w, 0);
	assert_int_equal(world_run_new(&w, TARGET " stop-parent"), 0);
	assert_int_equal(w.result.end, RUN_HUNG);
	assert_int_equal(world_run_new(&w, TARGET " exit 0"), 0);
	assert_exit(&w, 0);
	world_release(&w);
}

static struct runner_command *background(struct world *w, const char *line)
{
	struct runner_command *c = runner_command_new(line, &w->err);

	if (runner_background(w->r, c, &w->err) < 0)
		fail_msg("%s", w->err.msg);
	return c;
}

static void test_background(void **state)
{
	struct runner_command *c;
	struct world w;
	char path[128], line[256];

	(void)state;
	world_init(&w, 1, 0);
	world_start(&w);
	runner_begin(w.r, NULL, false);
	c = background(&w, TARGET " hang");
	assert_true(runner_background_runs(w.r));
	assert_int_equal(world_run(&w, TARGET " put {} 0 33"), 0);
	assert_int_equal(world_run(&w, TARGET " get {} 0"), 0);
	assert_output(&w, "1048576: 33\n");
	assert_true(runner_background_runs(w.r));
	runner_background_end(w.r, &w.result);
	assert_int_equal(w.result.end, RUN_SIGNALLED);
	assert_int_equal(w.result.code, SIGTERM);
	runner_command_free(c);

	told_path(path, sizeof path, &w, "ignores");
	snprintf(line, sizeof line, TARGET " ignore-term %s", path);
	c = background(&w, line);
	read_pid(path); /* it ignores */
	runner_background_end(w.r, &w.result);
	assert_int_equal(w.result.end, RUN_HUNG);
	runner_command_free(c);

	c = background(&w, TARGET " print 2000000");
	for (int i = 0; i < WAITS && runner_background_runs(w.r); i++)
		usleep(WAIT_US);
	assert_false(runner_background_runs(w.r));
	runner_background_end(w.r, &w.result);
	assert_exit(&w, 0);
	assert_string_equal(w.result.output + w.result.output_len - 4, "end\n");
	runner_command_free(c);

	c = background(&w, TARGET " hang"); /* ended by the next run, or with the runner */
	runner_begin(w.r, NULL, false);
	assert_false(runner_background_runs(w.r));
	runner_command_free(c);
	c = background(&w, TARGET " hang");
	runner_command_free(c);
	world_release(&w);
}

/* In a worker: a run that hangs and has a daemon. Tells its folder. */
_Noreturn static void worker(struct world *w, const char *program, const char *pid_path, int fd)
{
	w->r = runner_new(&w->o, NULL, 0, &w->err); /* no assertions: they would go on with the parent's tests */
	if (!w->r || write(fd, w->r->folder, strlen(w->r->folder) + 1) < 0)
		_exit(1);
	world_load(w);
	world_run_new(w, "%s daemon %s hang {}", program, pid_path);
	_exit(0);
}

/* The processes that have the folder in their environment. */
static size_t count_processes(const char *folder)
{
	struct processes all;
	size_t found = 0;
	static char text[1 << 17];
	char path[64];

	processes_init(&all);
	for (size_t i = 0; i < all.n; i++) {
		ssize_t len;

		snprintf(path, sizeof path, "/proc/%d/environ", (int)all.at[i].pid);
		len = process_read(path, text, sizeof text);
		found += len > 0 && memmem(text, (size_t)len, folder, strlen(folder)) != NULL;
	}
	processes_release(&all);
	return found;
}

static void check_killed(const char *program, int signal_number)
{
	struct world w;
	char path[128], folder[256] = "";
	int fds[2], waited;
	pid_t pid, child;

	world_init(&w, 1, 0);
	told_path(path, sizeof path, &w, "pid");
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0)
		worker(&w, program, path, fds[1]);
	close(fds[1]);
	assert_true(read(fds[0], folder, sizeof folder - 1) > 0);
	pid = read_pid(path);
	assert_true(process_is_alive(pid));
	assert_true(count_processes(folder) >= 2);
	assert_int_equal(access(folder, F_OK), 0);
	kill(child, signal_number);
	waitpid(child, NULL, 0);
	for (waited = 0; waited < WAITS && (process_is_alive(pid) || access(folder, F_OK) == 0); waited++)
		usleep(WAIT_US);
	assert_true(waited < WAITS);
	assert_int_equal(count_processes(folder), 0);
	close(fds[0]);
	world_release(&w);
}

static void test_killed(void **state)
{
	(void)state;
	check_killed(TARGET, SIGKILL);
	check_killed(TARGET_STATIC, SIGKILL);
	check_killed(TARGET, SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_late),   cmocka_unit_test(test_daemon),	      cmocka_unit_test(test_output),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_server_attacked), cmocka_unit_test(test_background),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
