/* Shows how far a repair is, on a terminal only, and lets the user interrupt it: once to keep what was found so far, twice to end at once. */
#include "cmd/fix_progress.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"

enum { FIRST_MS = 1000, EVERY_MS = 400 };

static volatile sig_atomic_t g_interrupts;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	if (++g_interrupts > 1)
		_exit(CMD_FAILED); /* scratch folders have guardians */
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return g_interrupts > 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void tell(const char *what, size_t done, size_t all, void *arg)
{
	struct fix_progress *p = arg;
	uint64_t now = now_ms();

	if (!p->is_wanted || now - p->start_ms < FIRST_MS || now - p->last_ms < EVERY_MS)
		return;
	p->last_ms = now;
	p->is_shown = true;
	fprintf(stderr, all ? "\r\33[K%s %zu/%zu" : "\r\33[K%s %zu", what, done, all);
}

void fix_progress_begin(struct fix_progress *p, bool is_quiet)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	struct sigaction before;

	*p = (struct fix_progress){ .watch = { tell, is_interrupted, p }, .is_wanted = !is_quiet && isatty(STDERR_FILENO), .start_ms = now_ms() };
	if (sigaction(SIGINT, &action, &before) == 0 && before.sa_handler == SIG_IGN)
		signal(SIGINT, SIG_IGN); /* whoever started us wants that */
}

bool fix_progress_pause(struct fix_progress *p)
{
	bool was_interrupted = g_interrupts > 0;

	if (p->is_shown)
		fputs("\r\33[K", stderr);
	p->is_shown = false;
	g_interrupts = 0;
	return was_interrupted;
}

void fix_progress_end(struct fix_progress *p)
{
	struct sigaction now;

	fix_progress_pause(p);
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_interrupt)
		signal(SIGINT, SIG_DFL);
}
