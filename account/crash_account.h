/* What those share that turn the results of an exploration into a report. */
#ifndef ACCOUNT_CRASH_ACCOUNT_H
#define ACCOUNT_CRASH_ACCOUNT_H

#include "crash/setup/crash_setup.h"
#include "source/locate.h"

struct crash_account {
	struct report *report;
	const struct plan *plan;
	const struct crash_result *result;
	const struct crash_setup *setup;
	const char *trace;       /* what it is called when a state is replayed */
	struct locator *locator; /* of the recorded program */
	struct symbols *symbols; /* of recovery */
	/* the crash of the program itself: events are those of its trace */
	bool is_first;
};

#endif
