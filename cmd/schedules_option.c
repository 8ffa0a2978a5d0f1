/* Runs a program under several orders of its threads. A schedule whose order is new is judged; its
 * trace is kept if it shows something that no earlier one did, or if the user named a folder. */
#include "cmd/schedules_option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/fresh_option.h"
#include "cmd/pool_option.h"
#include "cmd/trace_keep.h"
#include "crash/setup/crash_setup.h"
#include "pools/data_before.h"
#include "session/schedules.h"
#include "util/alloc.h"
#include "util/files.h"
#include "util/tempdir.h"

void schedules_option_check(const struct command *c, const struct schedules_option *o,
			    const struct recording *r, bool has_trace, bool is_all)
{
	struct stat st;

	if (!o->n.is_set && o->seed.is_set)
		die_usage(c, "--schedule-seed needs --schedules");
	if (!o->n.is_set)
		return;
	if (has_trace)
		die_usage(c, "--schedules applies only to recording a program, not to a trace");
	if (!r->threads)
		die_usage(c, "--schedules needs --threads");
	if (o->n.n == 0 || o->n.n > SCHEDULES_MAX)
		die_usage(c, "--schedules is from 1 to %u, not %" PRIu64, SCHEDULES_MAX, o->n.n);
	if (is_all)
		die_usage(c, "--schedules is for one platform at a time, not for all");
	if (o->folder && stat(o->folder, &st) == 0 && !S_ISDIR(st.st_mode))
		die_usage(c, "with --schedules, --trace names a folder, and %s is none", o->folder);
}

struct run {
	const struct schedules_option *option;
	const char *command;
	struct recording *recording;
	struct reporting *reporting;
	const struct schedule_judge *judge;
	struct schedules *schedules;
	struct tempdir folder;
	bool is_whole, is_stopped;
	size_t nkept;
};

/* Gives the name of a schedule's trace that is kept; free() it. */
static char *kept_name(const struct run *run, uint32_t number)
{
	char *what, *name;

	if (run->option->folder)
		return xasprintf("%s/schedule-%" PRIu32 ".pmt", run->option->folder, number);
	what = xasprintf("%s-schedule-%" PRIu32, run->command, number);
	name = trace_keep_name(what);
	free(what);
	return name;
}

/* Judges the last schedule, and keeps its trace if it is needed. */
static void judge_last(struct run *run, const char *trace, const char *kept, enum recorded recorded)
{
	bool is_whole = false, is_stopped = false;
	struct report *r;

	r = run->judge->judge(run->judge->arg, trace, kept, &is_whole, &is_stopped);
	run->is_whole &= is_whole;
	run->is_stopped |= is_stopped;
	if (!run->option->folder && schedules_is_new(run->schedules, r)) {
		if (copy_file_to_out(trace, kept) < 0)
			warn("cannot keep the trace as %s: %s", kept, strerror(errno));
		else
			run->nkept++;
	}
	if (recorded == RECORDED_FAILURE && !run->reporting->has_program_failed) {
		run->reporting->has_program_failed = true;
		trace_keep(trace, kept, recorded, false, run->reporting);
	}
	schedules_add(run->schedules, schedules_number(run->schedules), r, kept);
}

/* Records and judges one schedule. False: there can be no other one. */
static bool one(struct run *run, bool is_fresh, char **target, char **last, struct error *err)
{
	const uint32_t number = schedules_number(run->schedules) + 1;
	char *kept = kept_name(run, number),
	     *trace = run->option->folder
			      ? xstrdup(kept)
			      : xasprintf("%s/schedule-%" PRIu32 ".pmt", run->folder.path, number);
	enum recorded recorded;
	uint32_t of;

	fresh_option_begin(run->recording, is_fresh);
	recorded = schedules_record(run->schedules, run->recording, target, trace, err);
	fresh_option_end(run->recording);
	if (*last && !run->option->folder && recorded != RECORDED_NOTHING)
		unlink(*last);
	free(*last);
	*last = trace;
	if (number == 1 && (recorded == RECORDED_WELL || recorded == RECORDED_FAILURE))
		data_before_say(run->recording->notes, trace, !run->reporting->quiet);
	if ((recorded == RECORDED_WELL || recorded == RECORDED_FAILURE) &&
	    !schedules_is_repeat(run->schedules, &of))
		judge_last(run, trace, kept, recorded);
	else if (number == 1 && recorded != RECORDED_NOTHING)
		reporting_fail(recorded_text(recorded), run->reporting);
	run->is_stopped |= recorded == RECORDED_STOPPED;
	free(kept);
	return recorded == RECORDED_WELL || recorded == RECORDED_FAILURE;
}

int schedules_option_run(const struct schedules_option *o, const char *command, struct recording *r,
			 bool is_fresh, char **target, struct reporting *reporting,
			 const struct schedule_judge *judge)
{
	struct run run = { .option = o,
			   .command = command,
			   .recording = r,
			   .reporting = reporting,
			   .judge = judge,
			   .schedules =
				   schedules_new((uint32_t)o->n.n, o->seed.is_set ? o->seed.n : 1),
			   .is_whole = true };
	struct error err = { 0 };
	struct pool_option pool;
	struct report *report;
	char *last = NULL;
	bool can_go_on = true;
	int status = CMD_FAILED;

	if (tempdir_open(&run.folder, &err) < 0)
		die("%s", err.msg);
	if (o->folder && mkdir(o->folder, 0777) < 0 && errno != EEXIST)
		die("cannot make the folder %s: %s", o->folder, strerror(errno));
	r->quiet = true;
	r->is_passing = !o->folder;
	reporting->target = target;
	target = pool_option_begin(&pool, r, target);
	while (can_go_on && !run.is_stopped && schedules_has_next(run.schedules))
		can_go_on = one(&run, is_fresh, target, &last, &err);
	schedules_leave(run.schedules, r->notes);
	if (schedules_number(run.schedules) == 0)
		die("%s", err.msg);
	if (can_go_on || schedules_number(run.schedules) > 1 || err.msg[0]) {
		report = schedules_report(run.schedules);
		if (schedules_has_next(run.schedules)) {
			char *why = xasprintf("only %" PRIu32 " of %" PRIu64
					      " schedules were recorded%s%s",
					      schedules_number(run.schedules), o->n.n,
					      err.msg[0] ? ": " : "", err.msg);

			report_add_reason(report, why);
			free(why);
		}
		report_finish(report);
		if (run.nkept && !reporting->quiet)
			warn("%zu trace%s kept in %s", run.nkept, run.nkept == 1 ? " is" : "s are",
			     OUT_FOLDER);
		status = reporting_end(reporting, report, run.is_whole);
	}
	free(last);
	schedules_free(run.schedules);
	pool_option_end(&pool);
	tempdir_close(&run.folder);
	return status;
}
