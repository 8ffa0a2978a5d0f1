/* What those share that turn the results of an exploration into a report. */
#ifndef SESSION_CRASH_TELLING_H
#define SESSION_CRASH_TELLING_H

#include "session/crash_setup.h"
#include "session/locate.h"

struct crash_telling {
	struct report *report;
	const struct plan *plan;
	const struct crash_result *result;
	const struct crash_setup *setup;
	const char *trace;       /* what it is called when a state is replayed */
	struct locator *locator; /* of the recorded program */
	struct symbols *symbols; /* of recovery */
	bool is_first; /* the crash of the program itself: events are those of its trace */
};

#endif
