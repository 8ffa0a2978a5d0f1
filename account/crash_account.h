/* Declares the data that is shared by the files that turn the results of an exploration into a
 * report. */
#ifndef ACCOUNT_CRASH_ACCOUNT_H
#define ACCOUNT_CRASH_ACCOUNT_H

#include "crash/setup/crash_setup.h"
#include "source/locate.h"

struct crash_account {
	struct report *report;
	const struct plan *plan;
	const struct crash_result *result;
	const struct crash_setup *setup;
	const char *trace;       /* its name in commands that replay a state */
	struct locator *locator; /* for the recorded program */
	struct symbols *symbols; /* for recovery */
	/* the program itself crashed: events are those of its trace */
	bool is_first;
};

#endif
