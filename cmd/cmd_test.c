/* pmend test: records a program once, then judges the execution and, if a recovery is given, explores its crashes: one report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/reporting.h"
#include "session/checking.h"
#include "session/crashing.h"
#include "session/scratch.h"
#include "util/alloc.h"

static bool wants_crashes(const struct crash_setup *s)
{
	return s->recover || s->check || s->dump;
}

static int test(struct checking *c, struct crash_setup *s, struct reporting *reporting, char **target)
{
	const char *kept = s->trace ? s->trace : "pmend-crash.pmt", *trace;
	struct platform_traces traces = { 0 };
	char *folder = scratch_folder();
	bool is_whole, is_explored = true, has_crashes = false;
	struct report *report;
	int status = platform_traces_record(&traces, &c->recording, c->is_all, target, folder);

	if (status == CMD_CLEAN) {
		trace = traces.list.at[0].path;
		report = checking_judge(c, &traces, &is_whole);
		if (wants_crashes(s))
			has_crashes = crashing_explore(s, trace, kept, report, &is_explored);
		report_finish(report);
		status = reporting_end(reporting, report, is_whole && is_explored);
		if ((has_crashes || s->trace) && copy_file(trace, kept) < 0)
			warn("cannot keep the trace as %s: %s", kept, strerror(errno));
	}
	platform_traces_remove(&traces);
	platform_traces_release(&traces);
	rmdir(folder);
	free(folder);
	return status;
}

static int test_run(const struct command *command, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	struct crash_setup s = { 0 };
	struct checking c = { 0 };
	const struct option table[] = { CHECKING_OPTIONS(&c), CRASH_OPTIONS(&s), REPORTING_OPTIONS(&reporting), { 0 } };
	int n = options_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a program is needed");
	c.platform = s.platform;
	checking_begin(command, &c);
	if (c.is_all && wants_crashes(&s))
		die_usage(command, "--platform all and --recover do not go together; explore crashes on one platform at a time");
	if (c.is_all)
		s.platform = NULL;
	crash_setup_begin(command, &s);
	reporting_begin(command, &reporting);
	c.recording.pm = s.recording.pm;
	s.recording.pm = (struct option_list){ 0 };
	c.recording.quiet = true;
	if (!c.recording.platform)
		c.recording.platform = platforms[0];
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
