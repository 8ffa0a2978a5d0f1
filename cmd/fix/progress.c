/* Shows the progress of a repair, and lets the user interrupt it: once to keep what was found so
 * far, twice to end at once. */
#include "cmd/fix/progress.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

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

/* Shows a new part at once, because the part may take long before it reports progress. */
static void show_part(const char *what, size_t done, size_t all, void *arg)
{
	struct fix_progress *p = arg;
	bool is_new = !p->what || strcmp(p->what, what) != 0;

	if (!p->is_wanted)
		return;
	p->what = what;
	if (!done && !all)
		progress_step(&p->line, "%s", what);
	else if (is_new && all)
		progress_step(&p->line, "%s %zu/%zu", what, done, all);
	else if (all)
		progress_tell(&p->line, "%s %zu/%zu", what, done, all);
	else
		progress_tell(&p->line, "%s %zu", what, done);
}

void fix_progress_begin(struct fix_progress *p, bool is_asked, bool is_quiet)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	struct sigaction before;

	*p = (struct fix_progress){ .watch = { show_part, is_interrupted, p },
				    .is_wanted = is_asked || !is_quiet };
	progress_begin(&p->line, is_asked);
	if (sigaction(SIGINT, &action, &before) == 0 && before.sa_handler == SIG_IGN)
		signal(SIGINT, SIG_IGN); /* our parent wants it to be ignored */
}

bool fix_progress_pause(struct fix_progress *p)
{
	bool was_interrupted = g_interrupts > 0;

	progress_clear(&p->line);
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
