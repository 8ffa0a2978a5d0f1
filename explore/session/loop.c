/* Runs inputs in slots until nothing is left to try, the budget is used up, or somebody wants it to stop. */
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "explore/session/slots.h"

#define LEAST_TIMEOUT_MS 60000

double exploring_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool exploring_is_stopped(void *arg)
{
	struct signalfd_siginfo info;
	struct exploring *x = arg;

	if (x->signal_fd >= 0 && read(x->signal_fd, &info, sizeof info) == sizeof info) {
		close(x->signal_fd);
		x->signal_fd = -1; /* said once, it stays */
	}
	return x->signal_fd < 0;
}

static bool is_used_up(void *arg)
{
	const struct budget *b = arg;

	if (b->is_first && b->x->nbugs)
		return true;
	return exploring_is_stopped(b->x) || b->x->nstarted >= b->runs || (b->until_s > 0 && exploring_now_s() > b->until_s);
}

static bool is_idle(const struct exploring *x)
{
	for (unsigned i = 0; i < x->pools.nslots; i++)
		if (x->slots[i].state != SLOT_FREE)
			return false;
	return true;
}

/* The first input runs alone: it tells which files are pools. */
static void jobs_check(struct exploring *x)
{
	const char *unnamed = x->njobs > 1 && x->nstarted ? pools_unnamed(&x->pools, x->target, environ) : NULL;

	if (!unnamed)
		return;
	warn("runs share %s, which neither the command line nor the environment names: one at a time from here on", unnamed);
	x->njobs = 1;
}

static void slots_fill(struct exploring *x, struct budget *budget)
{
	struct explore_input in;

	for (unsigned i = 0; i < x->njobs && (x->nstarted || is_idle(x)); i++) {
		if (x->slots[i].state != SLOT_FREE)
			continue;
		if (is_used_up(budget) || !explore_next(x->explore, &in, is_used_up, budget))
			return;
		slot_start(x, &x->slots[i], &in);
		x->nstarted++;
		if (x->nstarted == 1)
			return;
	}
}

/* What came of an input: limits are learned, and nothing of it is lost whatever comes. */
static void input_done(struct exploring *x)
{
	if (x->is_timeout_learned) {
		x->timeout_ms = 10 * x->longest_ms > LEAST_TIMEOUT_MS ? 10 * x->longest_ms : LEAST_TIMEOUT_MS;
		x->is_timeout_learned = false;
	}
	exploring_report_keep(x);
	jobs_check(x);
	exploring_progress(x, false);
}

void exploring_run(struct exploring *x, struct budget *budget)
{
	for (;;) {
		bool is_first = x->nstarted == 1 && !is_idle(x), has_ended = false;

		if (exploring_is_stopped(x)) {
			for (unsigned i = 0; i < x->pools.nslots; i++)
				slot_stop(x, &x->slots[i]); /* thrown away */
			return;
		}
		if (!is_first)
			slots_fill(x, budget);
		if (is_idle(x))
			return;
		for (unsigned i = 0; i < x->pools.nslots; i++)
			if (slot_step(x, &x->slots[i])) {
				input_done(x);
				has_ended = true;
			}
		if (!has_ended)
			contained_wait();
	}
}
