/* Shows the progress of an exploration of crashes and what it finds, and lets the user interrupt
 * it: once to stop and report, twice to end at once. */
#include "cmd/crash_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"

/* findings of a shorter exploration are only in its report */
#define FOUND_NS 5000000000u

/* from the user, or from timeout, Slurm, a CI job */
static const int stop_signals[] = { SIGINT, SIGTERM };
static volatile sig_atomic_t g_interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	/* the second time, end at once; workers die with us, and their guardians clean up */
	if (++g_interrupts > 1)
		_exit(CMD_FAILED);
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return g_interrupts > 0;
}

static void progress(const struct crash_counters *c, uint64_t npoints, void *arg)
{
	struct crash_progress *p = arg;
	double seconds = (double)(clock_ns() - p->start_ns) / 1e9,
	       rate = seconds > 0 ? (double)(c->runs + c->diagnosis_runs) / seconds : 0;
	char left[64] = "";

	if (c->points > 0 && c->begun >= npoints)
		snprintf(left, sizeof left, ", about %.0f s left",
			 seconds / (double)c->points * (double)(npoints - c->points));
	progress_tell(&p->line,
		      "failure points %" PRIu64 "/%" PRIu64 ", %" PRIu64
		      " of them whole, %.0f runs/s, %" PRIu64 " bugs%s",
		      c->begun, npoints, c->points, rate, c->bugs, left);
}

static bool wants_found(void *arg)
{
	const struct crash_progress *p = arg;

	return !p->is_quiet && (p->is_asked || clock_ns() - p->start_ns >= FOUND_NS);
}

static void found(const char *text, void *arg)
{
	struct crash_progress *p = arg;

	progress_clear(&p->line);
	warn("%s", text);
}

static void begin(void *arg)
{
	struct sigaction action = { .sa_handler = on_interrupt };
	struct crash_progress *p = arg;

	p->start_ns = clock_ns();
	progress_begin(&p->line, p->is_asked);
	for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++)
		sigaction(stop_signals[i], &action, &p->before[i]);
}

static void end(void *arg)
{
	struct crash_progress *p = arg;

	for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++)
		sigaction(stop_signals[i], &p->before[i], NULL);
	progress_clear(&p->line);
	p->line.last_ms = 0; /* what comes next is another task */
}

static void diagnosing(uint64_t nruns, void *arg)
{
	struct crash_progress *p = arg;

	progress_tell(&p->line,
		      "finding out which findings have one cause: %" PRIu64 " recovery runs",
		      nruns);
}

static void diagnosed(void *arg)
{
	struct crash_progress *p = arg;

	progress_clear(&p->line);
}

void crash_progress_init(struct crash_progress *p, bool is_asked, bool is_quiet)
{
	*p = (struct crash_progress){ .watch = { begin, end, progress, is_interrupted, diagnosing,
						 diagnosed, wants_found, found, p },
				      .is_asked = is_asked,
				      .is_quiet = is_quiet };
}
