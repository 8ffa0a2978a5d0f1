/* Makes a report from a trace: runs the oracles of check/ and names the places that they found. The
 * trace is open; each function reads it with its own cursor. */
#ifndef ACCOUNT_CHECK_REPORT_H
#define ACCOUNT_CHECK_REPORT_H

#include "check/check.h"
#include "report/bug.h"
#include "trace/owner.h"

/* Makes a report that still needs report_finish(), or report_merge() with others. NULL if an
 * oracle's name is wrong. A damaged trace is judged as far as it goes; then is_complete is false,
 * and the report's coverage says why. libraries may be NULL. */
struct report *check_report_make(const struct trace *t, const struct check_options *o,
				 const struct libraries *libraries, bool *is_complete,
				 struct error *err);

/* Adds an oracle's finding, with the places in its source. */
struct locator;
void check_report_add(struct report *r, struct locator *l, const struct finding *f);

#endif
