/* pmend test: records a program once, checks the execution and, if a recovery is given, explores its crashes. Writes one report. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/fresh_option.h"
#include "cmd/pool_option.h"
#include "cmd/record_progress.h"
#include "cmd/reporting.h"
#include "cmd/trace_keep.h"
#include "session/beginning.h"
#include "session/causes/causes.h"
#include "session/checking.h"
#include "session/crashing.h"
#include "session/machine.h"
#include "session/ranking.h"
#include "util/alloc.h"
#include "util/tempdir.h"

static bool wants_crashes(const struct crash_setup *s)
{
	return s->recover || s->then || s->check || s->dump;
}

/* What the execution showed stays, although its crashes could not be explored. */
static void tell_unexplored(struct report *report, const struct error *err)
{
	struct report_coverage coverage = *report_coverage(report);
	char *why = xasprintf("no crash was explored: %s", err->msg);

	warn("%s", err->msg);
	coverage.is_complete = false;
	coverage.why_incomplete = why;
	report_set_coverage(report, &coverage);
	free(why);
}

/* A clean report is easily read as one about crashes. */
static void tell_unasked(struct report *report)
{
	struct report_coverage coverage = *report_coverage(report);

	coverage.not_asked = "Crashes were not explored, so ordering and atomicity bugs were not looked for: that needs --recover, --check or --dump";
	report_set_coverage(report, &coverage);
}

/* What was recorded becomes a report: of the execution and, if wanted, of its crashes. */
static int judge(const struct checking *c, struct crash_setup *s, struct reporting *reporting, const struct platform_traces *traces, const char *kept,
		 enum recorded recorded)
{
	const char *trace = traces->list.at[0].path;
	bool is_whole, is_explored = true, is_ranked = true;
	struct report *report = check_options_judge(c, traces, &is_whole);
	struct error err, unranked;
	int has_crashes = 0, status;

	if (wants_crashes(s))
		is_ranked = ranking_tell(s, trace, report, &unranked) == 0;
	if (wants_crashes(s))
		has_crashes = crashing_explore(s, trace, kept, report, &is_explored, &err);
	else
		tell_unasked(report);
	if (has_crashes < 0)
		tell_unexplored(report, &err);
	else if (!is_ranked)
		warn("pmend does not know which unflushed stores recovery reads: %s", unranked.msg);
	if (!c->is_all)
		causes_fold(report, trace, &s->libraries);
	report_finish(report);
	if (!c->is_all)
		reporting_add_evidence(reporting, report, trace, &s->libraries);
	status = reporting_end(reporting, report, is_whole && is_explored && has_crashes >= 0);
	trace_keep(trace, kept, recorded, has_crashes > 0 || s->trace);
	return status;
}

static int test(struct checking *c, struct crash_setup *s, struct reporting *reporting, bool is_fresh, char **target)
{
	struct platform_traces traces = { 0 };
	struct pool_option pool;
	struct tempdir folder;
	enum recorded recorded;
	int status = CMD_FAILED;
	struct error err;
	char *kept;

	if (tempdir_open(&folder, &err) < 0)
		die("%s", err.msg);
	kept = s->trace ? xstrdup(s->trace) : trace_keep_name("crash");
	target = pool_option_begin(&pool, &c->recording, target);
	fresh_option_begin(&c->recording, is_fresh);
	recorded = platform_traces_record(&traces, &c->recording, c->is_all, target, folder.path, &err);
	fresh_option_end(&c->recording);
	if (recorded == RECORDED_NOTHING)
		die("%s", err.msg);
	if (recorded == RECORDED_WELL || recorded == RECORDED_FAILURE) {
		beginning_tell(c->recording.notes, traces.list.at[0].path, !reporting->quiet);
		status = judge(c, s, reporting, &traces, kept, recorded);
	} else if (traces.list.n > 0) {
		trace_keep(traces.list.at[0].path, kept, recorded, false);
	}
	platform_traces_release(&traces);
	free(kept);
	pool_option_end(&pool);
	tempdir_close(&folder);
	return recorded != RECORDED_WELL && status == CMD_CLEAN ? CMD_FAILED : status;
}

static int test_run(const struct command *command, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	struct checking c = { 0 };
	bool is_fresh = false, is_asked = false;
	struct progress recording;
	const struct option table[] = { CHECKING_OPTIONS(&c), CRASH_OPTIONS(&s), REPORTING_OPTIONS(&reporting),
					FAIL_ON_OPTION(&reporting), FRESH_OPTION(&is_fresh), PROGRESS_OPTION(&is_asked), { 0 } };
	int n = options_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a program is needed");
	check_options_begin(command, &c, s.platform);
	if (c.is_all && wants_crashes(&s))
		die_usage(command, "--platform all cannot be combined with --recover; explore crashes on one platform at a time");
	if (c.is_all)
		s.platform = NULL;
	word_list_append(&s.library_globs, &c.library_globs);
	crash_options_begin(command, &s);
	crash_progress_init(&progress, is_asked);
	s.watch = &progress.watch;
	reporting_begin(command, &reporting);
	record_progress_begin(&recording, &c.recording, is_asked, reporting.quiet);
	c.recording.pm = s.recording.pm;
	s.recording.pm = (struct word_list){ 0 };
	c.recording.quiet = c.recording.is_passing = true;
	if (!c.recording.platform)
		c.recording.platform = machine_platform();
	status = test(&c, &s, &reporting, is_fresh, argv);
	crash_setup_end(&s);
	checking_end(&c);
	return status;
}

const struct command cmd_test = {
	.name = "test",
	.help = "record, check, explore crashes, and report in one go",
	.operands = "-- CMD [ARG]...",
	.run = test_run,
};
