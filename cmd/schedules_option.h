/* Options --schedules and --schedule-seed, for the commands that record a program: records it under
 * several orders of its threads, judges each, and makes one report. */
#ifndef CMD_SCHEDULES_OPTION_H
#define CMD_SCHEDULES_OPTION_H

#include "cmd/reporting.h"
#include "record/recorder.h"

struct schedules_option {
	struct optional_number n, seed;
	const char *folder; /* --trace; NULL: traces are kept if they show something */
};

/* Rows of an option table. */
#define SCHEDULES_OPTIONS(o) \
	{ \
		"schedules", \
		0, \
		"N", \
		"with --threads: record N times, each time under another order of threads", \
		OPTION_NUMBER, \
		&(o)->n \
	}, \
	{ \
		"schedule-seed", 0, "N", "the seed of these orders (default: 1)", OPTION_NUMBER, \
			&(o)->seed \
	}

/* Dies if the options do not fit: --schedules with a trace, without --threads, or with all
 * platforms. */
void schedules_option_check(const struct command *c, const struct schedules_option *o,
			    const struct recording *r, bool has_trace, bool is_all);

/* Judges a trace: makes a finished report. kept: the name that the trace has in it. *is_whole:
 * finding nothing means that there is nothing. *is_stopped: the user has interrupted. */
struct schedule_judge {
	struct report *(*judge)(void *arg, const char *trace, const char *kept, bool *is_whole,
				bool *is_stopped);
	void *arg;
};

/* Records and judges all schedules; returns enum cmd_status. command: the name for kept traces. */
int schedules_option_run(const struct schedules_option *o, const char *command, struct recording *r,
			 bool is_fresh, char **target, struct reporting *reporting,
			 const struct schedule_judge *judge);

#endif
