/* Runs inputs in slots until nothing is left to try, the budget is used up, or the user stops
 * pmend. */
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

/* Asks whether a signal has told pmend to stop, now or earlier. */
static bool is_stopped(struct exploring *x)
{
	struct signalfd_siginfo info;

	if (x->signal_fd >= 0 && read(x->signal_fd, &info, sizeof info) == sizeof info) {
		close(x->signal_fd);
		x->signal_fd = -1; /* remembered for later calls */
	}
	return x->signal_fd < 0;
}

/* Is there a bug and one is enough, or is the time over? */
static bool is_late(const struct budget *b)
{
	if (b->is_first && (b->x->nbugs || sharing_has_bugs(b->x->sharing)))
		return true;
	return b->until_s > 0 && exploring_now_s() > b->until_s;
}

static bool is_used_up(void *arg)
{
	const struct budget *b = arg;

	return is_stopped(b->x) || b->x->nstarted >= b->runs || is_late(b);
}

static bool is_idle(const struct exploring *x)
{
	for (unsigned i = 0; i < x->pools.nslots; i++)
		if (x->slots[i].state != SLOT_FREE)
			return false;
	return true;
}

/* Decides how many slots run. The first input runs alone, because it tells which files are
 * pools. */
static void jobs_check(struct exploring *x)
{
	const char *unnamed =
		x->njobs > 1 && x->nstarted ? pools_unnamed(&x->pools, x->target, environ) : NULL;

	if (!unnamed)
		return;
	notes_say(
		x->notes,
		"neither the command line nor the environment names %s, so runs share it: pmend runs one input at a time from now on",
		unnamed);
	x->njobs = 1;
}

static int slots_fill(struct exploring *x, struct budget *budget, struct error *err)
{
	struct explore_input in;

	for (unsigned i = 0; i < x->njobs && (x->nstarted || is_idle(x)); i++) {
		if (x->slots[i].state != SLOT_FREE)
			continue;
		if (sharing_sync(x->sharing, false, err) < 0)
			return -1;
		if (is_used_up(budget) || !explore_next(x->explore, &in, is_used_up, budget))
			return 0;
		if (slot_start(x, &x->slots[i], &in, err) < 0)
			return -1;
		x->nstarted++;
		if (x->nstarted == 1)
			return 0;
	}
	return 0;
}

/* Learns the time limit from the first run, and shows progress. */
static void input_done(struct exploring *x)
{
	if (x->is_timeout_learned) {
		x->timeout_ms = 10 * x->longest_ms > LEAST_TIMEOUT_MS ? 10 * x->longest_ms
								      : LEAST_TIMEOUT_MS;
		x->is_timeout_learned = false;
	}
	jobs_check(x);
	if (x->on_progress)
		x->on_progress(x);
}

/* Steps all slots. 1 if an input is done. */
static int slots_step(struct exploring *x, const struct budget *budget, struct error *err)
{
	int has_ended = 0;

	x->is_over = is_late(budget);
	for (unsigned i = 0; i < x->pools.nslots; i++) {
		int ended = slot_step(x, &x->slots[i], err);

		if (ended < 0)
			return -1;
		if (ended > 0)
			input_done(x);
		has_ended |= ended;
	}
	return has_ended;
}

int exploring_run(struct exploring *x, struct budget *budget, struct error *err)
{
	for (;;) {
		bool is_first = x->nstarted == 1 && !is_idle(x);
		int has_ended;

		if (is_stopped(x)) {
			for (unsigned i = 0; i < x->pools.nslots; i++)
				slot_stop(x, &x->slots[i]); /* its result is thrown away */
			return 0;
		}
		if (!is_first && slots_fill(x, budget, err) < 0)
			return -1;
		if (is_idle(x)) {
			int waits = is_used_up(budget) ? 0 : sharing_wait(x->sharing, err);

			if (waits <= 0)
				return waits;
			bounded_run_wait();
			continue;
		}
		has_ended = slots_step(x, budget, err);
		if (has_ended < 0)
			return -1;
		if (!has_ended && x->on_progress)
			x->on_progress(x);
		if (!has_ended)
			bounded_run_wait();
	}
}
