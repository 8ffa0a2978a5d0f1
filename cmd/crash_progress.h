/* Shows an exploration of crashes while it runs, and handles interrupts. */
#ifndef CMD_CRASH_PROGRESS_H
#define CMD_CRASH_PROGRESS_H

#include <signal.h>

#include "cmd/talk/progress.h"
#include "crash/setup/crash_setup.h"

struct crash_progress {
	struct crash_watch watch; /* for struct crash_setup */
	/* private */
	uint64_t start_ns;
	bool is_asked; /* --progress */
	bool is_quiet; /* findings are not told */
	struct progress line;
	struct sigaction before[2]; /* the old handlers of SIGINT and SIGTERM */
};

/* Prepares to show an exploration. is_asked: --progress; is_quiet: findings are not told before the
 * report. */
void crash_progress_init(struct crash_progress *p, bool is_asked, bool is_quiet);

#endif
