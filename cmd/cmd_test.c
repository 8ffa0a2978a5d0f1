/* pmend test: records a program once, then judges the execution and, if a recovery is given, explores its crashes: one report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/reporting.h"
#include "session/checking.h"
#include "session/crashing.h"
#include "session/native.h"
#include "session/scratch.h"
#include "util/alloc.h"

static bool wants_crashes(const struct crash_setup *s)
{
	return s->recover || s->check || s->dump;
}

/* What was recorded becomes a report: of the execution and, if wanted, of its crashes. */
static int judge(const struct checking *c, struct crash_setup *s, struct reporting *reporting, const struct platform_traces *traces)
{
	const char *kept = s->trace ? s->trace : "pmend-crash.pmt", *trace = traces->list.at[0].path;
	bool is_whole, is_explored = true;
	struct report *report = check_options_judge(c, traces, &is_whole);
	struct error err;
	int has_crashes = 0, status;

	if (wants_crashes(s))
		has_crashes = crashing_explore(s, trace, kept, report, &is_explored, &err);
	if (has_crashes < 0)
		die("%s", err.msg);
	report_finish(report);
	status = reporting_end(reporting, report, is_whole && is_explored);
	if ((has_crashes || s->trace) && copy_file(trace, kept) < 0)
		warn("cannot keep the trace as %s: %s", kept, strerror(errno));
	return status;
}

static int test(struct checking *c, struct crash_setup *s, struct reporting *reporting, char **target)
{
	struct error err;
	struct platform_traces traces = { 0 };
	char *folder = scratch_folder(&err);
	int recorded, status = CMD_FAILED;

	if (!folder)
		die("%s", err.msg);
	recorded = platform_traces_record(&traces, &c->recording, c->is_all, target, folder, &err);
	if (recorded == 0)
		status = judge(c, s, reporting, &traces);
	platform_traces_remove(&traces);
	platform_traces_release(&traces);
	rmdir(folder);
	free(folder);
	if (recorded < 0)
		die("%s", err.msg);
	return status;
}

static int test_run(const struct command *command, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	struct checking c = { 0 };
	const struct option table[] = { CHECKING_OPTIONS(&c), CRASH_OPTIONS(&s), REPORTING_OPTIONS(&reporting), { 0 } };
	int n = options_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a program is needed");
	check_options_begin(command, &c, s.platform);
	if (c.is_all && wants_crashes(&s))
		die_usage(command, "--platform all and --recover do not go together; explore crashes on one platform at a time");
	if (c.is_all)
		s.platform = NULL;
	crash_options_begin(command, &s);
	crash_progress_init(&progress);
	s.watch = &progress.watch;
	reporting_begin(command, &reporting);
	c.recording.pm = s.recording.pm;
	s.recording.pm = (struct word_list){ 0 };
	c.recording.quiet = true;
	if (!c.recording.platform)
		c.recording.platform = native_platform();
	status = test(&c, &s, &reporting, argv);
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
