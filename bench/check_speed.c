/* How many events of a trace the whole of `pmend check` takes in a second of processor time, beside
 * what it cannot do without, in the same run: check_speed PMEND TRACE... Three figures for each
 * trace: its events read; read and given to the model; the command, debug information and report
 * included. Minima of ROUNDS, in turn. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/platform_choice.h"
#include "model/model.h"
#include "trace/trace.h"

#define ROUNDS 5

struct took {
	double reading_s, model_s, check_s;
	long kib;
};

static _Noreturn void give_up(const char *path, const char *why)
{
	fprintf(stderr, "check_speed: %s: %s\n", path, why);
	exit(1);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* m: NULL, or takes each event. */
static double walk_s(const char *path, const struct platform *p, bool has_model, uint64_t *n)
{
	struct model *m = has_model ? model_new(p, NULL) : NULL;
	double start = now_s();
	struct trace_event ev;
	struct error err;
	struct trace *t;

	*n = 0;
	if (trace_open(&t, path, &err) < 0)
		give_up(path, err.msg);
	for (; trace_next(t, &ev); ++*n)
		if (m)
			model_step(m, &ev);
	trace_close(t);
	start = now_s() - start;
	model_free(m);
	return start;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static double check_s(const char *pmend, const char *path, long *kib)
{
	struct rusage use;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int fd = open("/dev/null", O_WRONLY);

		dup2(fd, STDOUT_FILENO);
		execl(pmend, pmend, "check", path, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) > 1)
		give_up(path, "pmend check failed");
	*kib = use.ru_maxrss;
	return seconds(&use.ru_utime) + seconds(&use.ru_stime);
}

static const struct platform *platform_of(const char *path)
{
	const struct platform *p = NULL;
	struct error err;
	struct trace *t;

	if (trace_open(&t, path, &err) == 0) {
		p = platform_choose(t, NULL, NULL, &err);
		trace_close(t);
	}
	if (!p)
		give_up(path, err.msg);
	return p;
}

static void least(double *value, double fresh)
{
	if (*value == 0 || fresh < *value)
		*value = fresh;
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		const struct platform *p = platform_of(argv[i]);
		struct took took = { 0 };
		uint64_t n = 0;

		for (int round = 0; round < ROUNDS; round++) {
			least(&took.reading_s, walk_s(argv[i], p, false, &n));
			least(&took.model_s, walk_s(argv[i], p, true, &n));
			least(&took.check_s, check_s(argv[1], argv[i], &took.kib));
		}
		printf("%s: %.1f million events; per second: read %.1f, read and modelled %.1f, "
		       "checked %.1f (%.2f of that), %ld KiB\n",
		       argv[i], (double)n * 1e-6, (double)n / took.reading_s * 1e-6,
		       (double)n / took.model_s * 1e-6, (double)n / took.check_s * 1e-6,
		       took.model_s / took.check_s, took.kib);
	}
	return 0;
}
