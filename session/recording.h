/* Recording a program: what `pmend record` does, and other commands that are given a program instead of a trace. */
#ifndef SESSION_RECORDING_H
#define SESSION_RECORDING_H

#include "session/recorder.h"

/* Runs the program and tells the notes what came of it. Returns 0 if all is well; 1 if the trace is there, but something is
 * wrong with it or with how the program ended; -1 with err if nothing was recorded. */
int recording_run(const struct recording *r, char **target, struct error *err);

#endif
