/* Records a program: what `pmend record` does, and other commands that get a program instead of a
 * trace. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "record/recorder.h"

/* The result of a recording. */
enum recorded {
	RECORDED_NOTHING = -1, /* nothing was recorded; the error says why */
	RECORDED_WELL = 0,
	/* a trace, but the program failed, or the trace ends early; what is there can be judged */
	RECORDED_FAILURE = 1,
	RECORDED_NO_PM = 2, /* a trace without persistent memory */
	/* a trace up to the moment when pmend was told to end (SIGTERM, SIGHUP); there is no time
	 * to judge it */
	RECORDED_STOPPED = 3,
};

/* Runs the program, and says in the notes how it ended. */
enum recorded recording_run(const struct recording *r, char **target, struct error *err);

#endif
