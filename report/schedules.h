/* Makes one report of a program that was recorded under several orders of threads. */
#ifndef REPORT_SCHEDULES_H
#define REPORT_SCHEDULES_H

#include "report/bug.h"

/* Adds the finished report about a schedule to `all`, which is not finished. Equal bugs become one.
 * number: of the schedule, from 1. trace: where its trace is kept. */
void report_add_schedule(struct report *all, const struct report *one, uint32_t number,
			 const char *trace);
/* Does the finished report have a finding, or the crash of a finding, that `all` does not have
 * yet? */
bool report_needs_schedule(const struct report *all, const struct report *one);
/* Says how many schedules there were; after report_add_schedule(). departure: what decided about
 * the order besides the seed; NULL: nothing. has_processes: there were several processes. */
void report_set_schedules(struct report *r, const struct report_schedules *s, const char *departure,
			  bool has_processes);

#endif
