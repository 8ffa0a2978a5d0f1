/* pmend crash: explores the crashes of one execution, given as a trace or recorded on the spot, by running the program's own recovery. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/crash_replay.h"
#include "cmd/reporting.h"
#include "session/crashing.h"
#include "session/native.h"
#include "session/scratch.h"
#include "util/alloc.h"

static int explore(struct crash_setup *s, struct reporting *reporting, const char *trace, const char *kept)
{
	struct report *report = report_new();
	struct error err;
	bool is_whole;
	int status;

	if (crashing_explore(s, trace, kept, report, &is_whole, &err) < 0)
		die("%s", err.msg);
	report_finish(report);
	status = reporting_end(reporting, report, is_whole);
	if (s->groups) /* a report for a program must stay one */
		fputs(s->groups, reporting->output || strcmp(reporting->format, "text") == 0 ? stdout : stderr);
	return status;
}

/* Records into a folder of our own. The trace is kept where the user said, or here if there is something to replay. */
static int record_and_explore(struct crash_setup *s, struct reporting *reporting, char **target)
{
	const char *kept = s->trace ? s->trace : "pmend-crash.pmt";
	char *folder, *trace;
	int recorded, status = CMD_FAILED;
	struct error err;

	folder = scratch_folder(&err);
	if (!folder)
		die("%s", err.msg);
	trace = s->trace ? xstrdup(s->trace) : xasprintf("%s/trace.pmt", folder);
	s->recording.output = trace;
	s->recording.quiet = true;
	if (!s->recording.platform)
		s->recording.platform = native_platform();
	recorded = recording_run(&s->recording, target, &err);
	if (recorded == 0)
		status = explore(s, reporting, trace, kept);
	if (!s->trace) {
		if (status == CMD_FOUND && copy_file(trace, kept) < 0)
			warn("cannot keep the trace as %s: %s", kept, strerror(errno));
		unlink(trace);
	}
	rmdir(folder);
	free(trace);
	free(folder);
	if (recorded < 0)
		die("%s", err.msg);
	return status;
}

static int crash_run(const struct command *c, int argc, char **argv)
{
	struct crash_replay_options replay = { 0 };
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	const struct option table[] = { CRASH_OPTIONS(&s), CRASH_GROUP_OPTIONS(&s), CRASH_RACE_OPTIONS(&s), CRASH_REPLAY_OPTIONS(&replay), REPORTING_OPTIONS(&reporting), { 0 } };
	int n = options_parse(c, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(c, "a trace or a program is needed");
	if ((replay.keep || replay.gdb || replay.show_choices) && !replay.state)
		die_usage(c, "--keep, --gdb and --show-choices go with --replay");
	crash_options_begin(c, &s);
	crash_progress_init(&progress);
	s.watch = &progress.watch;
	reporting_begin(c, &reporting);
	if (n == 1 && is_trace_name(argv[0]))
		status = replay.state ? crash_replay(&s, &replay, argv[0]) : explore(&s, &reporting, argv[0], argv[0]);
	else if (replay.state)
		die_usage(c, "--replay needs the trace, not a program");
	else
		status = record_and_explore(&s, &reporting, argv);
	crash_setup_end(&s);
	return status;
}

const struct command cmd_crash = {
	.name = "crash",
	.help = "run recovery on the states that a crash can leave",
	.operands = "(FILE.pmt | -- CMD [ARG]...)",
	.run = crash_run,
};
