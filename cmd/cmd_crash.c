/* pmend crash: explores the crashes of one execution, from a trace or recorded first, by running
 * the program's own recovery. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/bundled.h"
#include "cmd/check_options.h"
#include "cmd/cmd_crash.h"
#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/crash_replay.h"
#include "cmd/fresh_option.h"
#include "cmd/pool_option.h"
#include "cmd/project_options.h"
#include "cmd/recipe_option.h"
#include "cmd/schedules_option.h"
#include "cmd/threads_option.h"
#include "cmd/record_progress.h"
#include "cmd/reporting.h"
#include "cmd/shard_option.h"
#include "cmd/trace_keep.h"
#include "crash/files/files_explore.h"
#include "crash/search/state_text.h"
#include "report/escape.h"
#include "pools/data_before.h"
#include "account/causes/causes.h"
#include "session/crashing.h"
#include "record/machine.h"
#include "util/files.h"
#include "distribute/shard/keeper.h"
#include "util/alloc.h"
#include "util/tempdir.h"

/* Explores the crashes of a trace and makes a finished report; dies if nothing can be explored. */
static struct report *explore(struct crash_setup *s, struct reporting *reporting, const char *trace,
			      const char *kept, bool *is_whole)
{
	struct report *report = report_new();
	struct error err;

	if (crashing_explore(s, trace, kept, report, is_whole, &err) < 0)
		die("%s", err.msg);
	/* the findings of a part are made when all parts are merged */
	if (!s->shard.of && !s->has_files)
		crashing_add_pairs(s, report);
	causes_fold(report, trace, &s->libraries, s->has_files ? NULL : s);
	crash_setup_add(s, report);
	report_finish(report);
	reporting_add_evidence(reporting, report, trace, &s->libraries);
	if (*is_whole)
		report_add_analysis(report, "crash");
	if (*is_whole && s->races)
		report_add_analysis(report, "races");
	return report;
}

int crash_explore_and_report(struct crash_setup *s, struct reporting *reporting, const char *trace,
			     const char *kept)
{
	bool is_whole;
	struct report *report = explore(s, reporting, trace, kept, &is_whole);
	int status;

	status = reporting_end(reporting, report, is_whole);
	if (s->groups) /* the output must stay one report if a program reads it */
		escape_lines(reporting->output || strcmp(reporting->format, "text") == 0 ? stdout
											 : stderr,
			     s->groups, strlen(s->groups), "");
	return status;
}

/* Records into a scratch folder and explores. The trace is kept where the user said, or in the
 * current folder if there is something to replay. If the program failed, the trace is kept, too,
 * and is explored up to the failure. */
static int record_and_explore(struct crash_setup *s, struct reporting *reporting, bool is_fresh,
			      char **target)
{
	char *kept = s->trace ? xstrdup(s->trace) : trace_keep_name("crash");
	struct pool_option pool;
	struct tempdir folder;
	enum recorded recorded;
	int status = CMD_FAILED;
	struct error err;
	char *trace;

	if (tempdir_open(&folder, &err) < 0)
		die("%s", err.msg);
	trace = s->trace ? xstrdup(s->trace) : xasprintf("%s/trace.pmt", folder.path);
	s->recording.output = trace;
	s->recording.quiet = true;
	s->recording.is_passing = !s->trace;
	s->recording.max_seconds = crash_setup_record_seconds(s);
	if (!s->recording.platform)
		recording_open_platform(&s->recording, true);
	reporting->target = target;
	target = pool_option_begin(&pool, &s->recording, target);
	fresh_option_begin(&s->recording, is_fresh);
	recorded = recording_run(&s->recording, target, &err);
	fresh_option_end(&s->recording);
	crash_setup_begin_time(s);
	if (recorded == RECORDED_NOTHING)
		die("%s", err.msg);
	/* kept now, because exploring may fail, too */
	if ((recorded == RECORDED_FAILURE || recorded == RECORDED_STOPPED) && !s->trace)
		trace_keep(trace, kept, recorded, false, reporting);
	reporting->has_program_failed = recorded != RECORDED_WELL;
	if (recorded == RECORDED_WELL || recorded == RECORDED_FAILURE) {
		data_before_say(s->notes, trace, !reporting->quiet);
		status = crash_explore_and_report(s, reporting, trace, kept);
	} else {
		reporting_fail(recorded_text(recorded), reporting);
	}
	if (recorded == RECORDED_WELL && !s->trace)
		trace_keep(trace, kept, recorded, status == CMD_FOUND, reporting);
	free(trace);
	free(kept);
	pool_option_end(&pool);
	tempdir_close(&folder);
	return status;
}

struct scheduled {
	struct crash_setup *setup;
	struct reporting *reporting;
};

static struct report *judge_schedule(void *arg, const char *trace, const char *kept, bool *is_whole,
				     bool *is_stopped)
{
	const struct scheduled *s = arg;
	struct report *r;

	crash_setup_begin_time(s->setup);
	r = explore(s->setup, s->reporting, trace, kept, is_whole);
	*is_stopped = s->setup->watch->is_interrupted(s->setup->watch->arg);
	return r;
}

/* Records the program under several orders of its threads, and explores the crashes of each. */
static int record_schedules(struct crash_setup *s, struct reporting *reporting,
			    struct schedules_option *o, bool is_fresh, char **target)
{
	struct scheduled scheduled = { s, reporting };
	const struct schedule_judge judge = { judge_schedule, &scheduled };

	s->options.may_lack_news = true; /* another schedule may do more */
	s->recording.max_seconds = crash_setup_record_seconds(s);
	if (!s->recording.platform)
		recording_open_platform(&s->recording, true);
	return schedules_option_run(o, "crash", &s->recording, is_fresh, target, reporting, &judge);
}

static int crash_run(const struct command *c, int argc, char **argv)
{
	struct crash_replay_options replay = { 0 };
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	struct shard_options shard = { 0 };
	struct keeper keeper = { 0 };
	struct schedules_option schedules = { 0 };
	bool is_fresh = false, is_asked = false, no_project = false;
	struct progress recording;
	const struct option table[] = { CRASH_OPTIONS(&s),
					LIBRARY_OPTION(&s.library_globs),
					CRASH_GROUP_OPTIONS(&s),
					CRASH_RACE_OPTIONS(&s),
					CRASH_REPLAY_OPTIONS(&replay),
					SHARD_OPTIONS(&shard),
					REPORTING_OPTIONS(&reporting),
					FAIL_ON_OPTION(&reporting),
					FILES_OPTIONS(&s.recording),
					THREADS_OPTIONS(&s.recording),
					SCHEDULES_OPTIONS(&schedules),
					FRESH_OPTION(&is_fresh),
					OLD_BYTES_OPTION(&s.recording),
					RECIPE_OPTIONS(&s.recording.recipe),
					PROGRESS_OPTION(&is_asked),
					PROJECT_OPTION(&no_project),
					{ 0 } };
	const struct option packed[] = { CRASH_PACKED_OPTIONS(&s), { 0 } };
	struct bundled bundled = { .argc = argc, .argv = words_copy(argv, 0) };
	int n = project_parse(c, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 1 && is_bundle_name(argv[0]))
		argv[0] = bundled_begin(&bundled, c, table, packed, argv[0]);
	s.kept_in = bundled.home;
	if (n == 0)
		die_usage(c, "a trace or a program is needed");
	if (n > 1 && is_trace_name(argv[0]))
		die_usage(c, "one trace or a program, not both: %s is a trace", argv[0]);
	s.shard = shard_option_set(c, &shard, &reporting, n == 1 && is_trace_name(argv[0]));
	if ((replay.keep || replay.gdb || replay.show_choices) && !replay.state)
		die_usage(c, "--keep, --gdb and --show-choices need --replay");
	if (is_fresh && n == 1 && is_trace_name(argv[0]))
		die_usage(c, "--fresh applies only to recording a program, not to a trace");
	if (s.recording.old_bytes && n == 1 && is_trace_name(argv[0]))
		die_usage(c, "--old-bytes applies only to recording a program, not to a trace");
	if (s.recording.pm.n > 0 && n == 1 && is_trace_name(argv[0]))
		die_usage(c, "--pm applies only to recording a program, not to a trace");
	threads_option_check(c, &s.recording, argv, n == 1 && is_trace_name(argv[0]));
	files_option_check(c, &s.recording, argv, n == 1 && is_trace_name(argv[0]));
	schedules.folder = s.trace;
	schedules_option_check(c, &schedules, &s.recording, n == 1 && is_trace_name(argv[0]),
			       false);
	reporting_begin(c, &reporting);
	crash_options_begin(c, &s);
	files_option_fit(c, &s, &s.recording, argv, n == 1 && is_trace_name(argv[0]));
	if (replay.state &&
	    !(s.has_files ? files_state_is_text(replay.state) : state_is_text(replay.state)))
		die_usage(
			c,
			"--replay '%s' is not a state: take it from the replay line of a report; it is a failure point, and %s",
			replay.state,
			s.has_files
				? "what in the folder is older than at the crash, as 6:n0=1,2+512=0"
				: "the lines that lost something, as 6:1+280=2");
	recipe_option_begin(c, &s.recording.recipe, &s.timeout, n == 1 && is_trace_name(argv[0]),
			    argv);
	if (shard.shard)
		keeper_init(&keeper, &s, NULL, reporting.output, shard.part != NULL);
	crash_progress_init(&progress, is_asked, reporting.quiet);
	s.watch = &progress.watch;
	record_progress_begin(&recording, &s.recording, is_asked, reporting.quiet);
	if (n == 1 && is_trace_name(argv[0]))
		status = replay.state
				 ? crash_replay(&s, &replay, argv[0])
				 : crash_explore_and_report(&s, &reporting, argv[0],
							    bundled.file ? bundled.file : argv[0]);
	else if (replay.state)
		die_usage(c, "--replay needs the trace, not a program");
	else if (schedules.n.is_set)
		status = record_schedules(&s, &reporting, &schedules, is_fresh, argv);
	else
		status = record_and_explore(&s, &reporting, is_fresh, argv);
	keeper_release(&keeper);
	crash_setup_end(&s);
	bundled_end(&bundled);
	return status;
}

const struct command cmd_crash = {
	.name = "crash",
	.help = "run recovery on the states that a crash can leave",
	.operands = "(FILE.pmt | FILE.pmb | -- CMD [ARG]...)",
	.run = crash_run,
};
