/* Shows how far an exploration of crashes is, on a terminal only, and lets the user interrupt it: once to stop and report, twice to end
 * at once. */
#include "cmd/crash_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"

static volatile sig_atomic_t g_interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	if (++g_interrupts > 1)
		_exit(CMD_FAILED); /* the second time: at once; workers die with us, and their guardians clean up */
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return g_interrupts > 0;
}

/* One line that is written over, on a terminal only. */
static void progress(const struct crash_counters *c, uint64_t npoints, void *arg)
{
	struct crash_progress *p = arg;
	uint64_t now = clock_ns();
	double seconds = (double)(now - p->start_ns) / 1e9, rate;

	if (!isatty(STDERR_FILENO) || seconds < 1 || now - p->last_ns < 400000000u)
		return;
	p->last_ns = now;
	p->is_shown = true;
	rate = (double)(c->runs + c->diagnosis_runs) / seconds;
	fprintf(stderr, "\r\33[Kfailure points %" PRIu64 "/%" PRIu64 ", %" PRIu64 " of them whole, %.0f runs/s, %" PRIu64 " bugs", c->begun, npoints, c->points, rate, c->bugs);
	if (c->points > 0 && c->begun >= npoints)
		fprintf(stderr, ", about %.0f s left", seconds / (double)c->points * (double)(npoints - c->points));
}

static void begin(void *arg)
{
	struct sigaction action = { .sa_handler = on_interrupt };
	struct crash_progress *p = arg;

	p->start_ns = clock_ns();
	p->last_ns = 0;
	p->is_shown = false;
	sigaction(SIGINT, &action, &p->before);
}

static void end(void *arg)
{
	struct crash_progress *p = arg;

	sigaction(SIGINT, &p->before, NULL);
	if (p->is_shown)
		fputs("\r\33[K", stderr);
}

void crash_progress_init(struct crash_progress *p)
{
	*p = (struct crash_progress){ .watch = { begin, end, progress, is_interrupted, p } };
}
