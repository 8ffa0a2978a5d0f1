/* What an explored program may do to the machine it runs on: hang, die, leave daemons behind, print or write without end. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "explore/session/bounded_run.h"

extern char **environ;

static char folder[] = "/tmp/pmend-contain-XXXXXX";

static struct bounded_run run(const char *script, struct bounded_program c)
{
	char *argv[] = { "/bin/sh", "-c", (char *)script, NULL }, output[64];
	struct bounded_run r;
	struct error err;

	snprintf(output, sizeof output, "%s/output", folder);
	c.argv = argv;
	c.env = environ;
	c.output_path = output;
	if (!c.timeout_ms)
		c.timeout_ms = 60000;
	assert_int_equal(bounded_run_start(&r, &c, &err), 0);
	while (!bounded_run_step(&r))
		bounded_run_wait();
	return r;
}

/* The number that the script left in a file of this name. */
static pid_t left(const char *name)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return pid;
}

static void test_ends(void **state)
{
	struct bounded_run r = run("exit 7", (struct bounded_program){ 0 });

	(void)state;
	assert_int_equal(r.end, BOUNDED_EXITED);
	assert_int_equal(r.status, 7);
	r = run("kill -SEGV $$", (struct bounded_program){ 0 });
	assert_int_equal(r.end, BOUNDED_KILLED);
	assert_int_equal(r.status, SIGSEGV);
	r = run("sleep 60", (struct bounded_program){ .timeout_ms = 200 });
	assert_int_equal(r.end, BOUNDED_HUNG);
	assert_true(r.took_ms < 10000);
}

/* Twice away from the program's group and session, with a parent that is gone: still ended. */
static void test_daemon(void **state)
{
	struct bounded_run r;
	char script[256];

	(void)state;
	snprintf(script, sizeof script, "cd %s; setsid sh -c 'setsid sh -c \"echo \\$\\$ >daemon; sleep 60\" & ' & while ! [ -s daemon ]; do sleep 0.05; done; exit 3", folder);
	r = run(script, (struct bounded_program){ .timeout_ms = 60000 });
	assert_int_equal(r.end, BOUNDED_EXITED);
	assert_int_equal(r.status, 3);
	assert_int_equal(kill(left("daemon"), 0), -1);
}

/* What a program has started ends with it when it is stopped, too. */
static void test_stop(void **state)
{
	char script[256], *argv[] = { "/bin/sh", "-c", script, NULL }, mark[64];
	struct bounded_program c = { .argv = argv, .env = environ, .output_path = "/dev/null", .timeout_ms = 60000 };
	struct bounded_run r;
	struct error err;

	(void)state;
	snprintf(mark, sizeof mark, "%s/ready", folder);
	snprintf(script, sizeof script, "cd %s; setsid sh -c 'echo $$ >second; touch ready; exec sleep 60' & sleep 60", folder);
	assert_int_equal(bounded_run_start(&r, &c, &err), 0);
	while (access(mark, F_OK) != 0) {
		assert_false(bounded_run_step(&r));
		bounded_run_wait();
	}
	bounded_run_stop(&r);
	assert_int_equal(r.end, BOUNDED_STOPPED);
	assert_int_equal(kill(left("second"), 0), -1);
}

static void test_output(void **state)
{
	struct bounded_run r = run("while :; do echo again and again; done", (struct bounded_program){ .output_max_bytes = 100000 });

	(void)state;
	assert_int_equal(r.end, BOUNDED_FLOODED);
}

static void test_disk(void **state)
{
	struct bounded_program c = { 0 };
	struct bounded_run r;
	struct statvfs v;
	char script[128];

	(void)state;
	assert_int_equal(statvfs(folder, &v), 0);
	c.free_min_bytes = (uint64_t)v.f_bavail * v.f_frsize - (8 << 20);
	snprintf(script, sizeof script, "head -c 32000000 /dev/zero >%s/large; sleep 100", folder);
	r = run(script, c);
	assert_int_equal(r.end, BOUNDED_FULL);
	assert_true(r.took_ms < 60000);
}

/* A client is played for a program that never listens at that port: it is a program that hangs. */
static void test_sockets(void **state)
{
	struct bounded_run r = run("sleep 60", (struct bounded_program){ .port = 9, .timeout_ms = 300 });

	(void)state;
	assert_int_equal(r.end, BOUNDED_HUNG);
	assert_int_equal(r.client_sent, 0);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	static const char *const names[] = { "output", "daemon", "second", "ready", "large" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),   cmocka_unit_test(test_daemon),  cmocka_unit_test(test_stop), cmocka_unit_test(test_output),
		cmocka_unit_test(test_disk),   cmocka_unit_test(test_sockets),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
