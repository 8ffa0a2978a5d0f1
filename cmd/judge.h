/* From a trace to a report: runs the oracles of check/ over it and names the places they found. */
#ifndef CMD_JUDGE_H
#define CMD_JUDGE_H

#include "check/check.h"
#include "report/bug.h"

/* The platform that a trace was recorded for; NULL if it cannot be read or does not say. */
const struct platform *judge_platform(const char *path, struct error *err);

/* NULL if the trace cannot be opened or an oracle's name is wrong. A damaged trace is judged as far as it goes; then
 * is_complete is false, and the report's coverage says why. */
struct report *judge_trace(const char *path, const struct check_options *o, bool *is_complete, struct error *err);

#endif
