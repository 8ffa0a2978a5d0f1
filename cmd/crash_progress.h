/* What the user sees of an exploration of crashes while it runs, and how it is interrupted. */
#ifndef CMD_CRASH_PROGRESS_H
#define CMD_CRASH_PROGRESS_H

#include <signal.h>

#include "cmd/talk/progress.h"
#include "crash/setup/crash_setup.h"

struct crash_progress {
	struct crash_watch watch; /* for struct crash_setup */
	/* inside */
	uint64_t start_ns;
	bool is_asked; /* --progress */
	struct progress line;
	struct sigaction before[2]; /* what SIGINT and SIGTERM did */
};

void crash_progress_init(struct crash_progress *p, bool is_asked);

#endif
