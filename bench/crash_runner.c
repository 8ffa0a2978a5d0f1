/* Runs of one recovery in a second: by the runner's fork server, and by fork+exec on an image that
 * is copied anew each time, in turn, in one process. On a machine that does other things, too, the
 * ratio of processor time is the one to look at: a run of the fork server passes through three
 * processes.
 * crash_runner RUNTIME RECOVERY [ROUNDS [MIB]]. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crash/states/image.h"
#include "crash/run/runner.h"
#include "crash/states/states.h"

#define NRECORDS 1000 /* good ones */
#define BATCH 100

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Processor time of this process and of those that it has waited for. */
static double used(void)
{
	double sum = 0;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage u;

		getrusage(who, &u);
		sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	}
	return sum;
}

static _Noreturn void give_up(const char *why)
{
	fprintf(stderr, "crash_runner: %s\n", why);
	exit(1);
}

static void fill(struct crash_image *image)
{
	for (uint64_t i = 0; i < NRECORDS; i++) {
		uint64_t record[8], sum = 1;

		for (int k = 0; k < 7; k++) {
			record[k] = i * 7 + (uint64_t)k;
			sum = sum * 31 + record[k];
		}
		record[7] = sum;
		image_write(image, PMT_ADDR(1, i * sizeof record), (const uint8_t *)record,
			    sizeof record);
	}
}

static void check(const char *output)
{
	if (atoi(output) != NRECORDS)
		give_up("recovery did not see the image");
}

static void run_forked(struct runner *r, const struct runner_command *c)
{
	struct run_result result;
	struct error err;

	runner_begin(r, NULL, false);
	if (runner_command_run(r, c, &result, &err) < 0)
		give_up(err.msg);
	check(result.output);
}

/* What a tool without a runtime does: writes the image to a file, starts recovery on it, reads its
 * output. */
static void run_executed(const struct crash_file *f, const char *recovery, const char *path)
{
	char *argv[] = { (char *)recovery, (char *)path, NULL }, output[64] = "";
	posix_spawn_file_actions_t actions;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), out[2], status;
	pid_t pid;

	if (fd < 0 || write(fd, f->bytes, f->size_bytes) != (ssize_t)f->size_bytes ||
	    pipe2(out, O_CLOEXEC) < 0)
		give_up(path);
	close(fd);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (posix_spawn(&pid, recovery, &actions, NULL, argv, environ) != 0)
		give_up(recovery);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	if (read(out[0], output, sizeof output - 1) < 0 || waitpid(pid, &status, 0) < 0 ||
	    status != 0)
		give_up("recovery failed");
	close(out[0]);
	check(output);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 3 ? atoi(argv[3]) : 10, mib = argc > 4 ? atoi(argv[4]) : 1;
	const uint64_t pool_bytes = (uint64_t)mib << 20;
	double forked = 0, executed = 0, forked_cpu, executed_cpu = 0, begin_cpu = used();
	struct runner_options o = { .runtime = argc > 1 ? argv[1] : NULL };
	struct state_set set = { .line_bytes = 64 };
	struct crash_image image;
	struct runner_command *c;
	char path[] = "/dev/shm/pmend-bench-XXXXXX";
	struct runner *r;
	struct error err;

	if (argc < 3)
		give_up("usage: crash_runner RUNTIME RECOVERY [ROUNDS [MIB]]");
	image_init(&image, (uint64_t[]){ 0, pool_bytes }, 2);
	image.files.at[1].path = xstrdup("/tmp/pmend-bench-pool");
	image.files.at[1].exists = true;
	image.files.at[1].size_bytes = pool_bytes;
	fill(&image);
	close(mkstemp(path));
	r = runner_new(&o, NULL, 0, &err);
	if (!r)
		give_up(err.msg);
	c = runner_command_of((char *[]){ argv[2], "{}", NULL });
	runner_load(r, &image, &set);
	run_forked(r, c);
	run_executed(&image.files.at[1], argv[2], path);
	for (int i = 0; i < rounds; i++) {
		double begin = now(), cpu;

		for (int k = 0; k < BATCH; k++)
			run_forked(r, c);
		forked += now() - begin;
		begin = now();
		cpu = used();
		for (int k = 0; k < BATCH; k++)
			run_executed(&image.files.at[1], argv[2], path);
		executed += now() - begin;
		executed_cpu += used() - cpu;
	}
	runner_free(r); /* the time of its processes becomes ours */
	forked_cpu = used() - begin_cpu - executed_cpu;
	printf("runs of a raw-mmap recovery on %d MiB: fork server %.0f/s, fork+exec on copied images %.0f/s: %.1f times as many; "
	       "processor time %.0f and %.0f us: a %.1fth\n",
	       mib, rounds * BATCH / forked, rounds * BATCH / executed, executed / forked,
	       forked_cpu * 1e6 / (rounds * BATCH), executed_cpu * 1e6 / (rounds * BATCH),
	       executed_cpu / forked_cpu);
	unlink(path);
	runner_command_free(c);
	image_release(&image);
	return 0;
}
