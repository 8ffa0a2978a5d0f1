/* pmend test: records a program once, or takes a trace, checks the execution and, if a recovery is
 * given, explores its crashes. Writes one report. A shard only explores its share of the crashes:
 * 'pmend merge' checks the execution once. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/cmd_crash.h"
#include "cmd/cmd_test.h"
#include "cmd/crash_options.h"
#include "cmd/crash_progress.h"
#include "cmd/fresh_option.h"
#include "cmd/pool_option.h"
#include "cmd/project_options.h"
#include "cmd/recipe_option.h"
#include "cmd/schedules_option.h"
#include "cmd/threads_option.h"
#include "cmd/record_progress.h"
#include "cmd/reporting.h"
#include "cmd/shard_option.h"
#include "cmd/tests.h"
#include "cmd/trace_keep.h"
#include "pools/data_before.h"
#include "account/causes/causes.h"
#include "session/checking.h"
#include "session/crashing.h"
#include "record/machine.h"
#include "account/ranking.h"
#include "util/files.h"
#include "distribute/shard/keeper.h"
#include "util/alloc.h"
#include "util/tempdir.h"

static bool wants_crashes(const struct crash_setup *s)
{
	return s->recover || s->then || s->check || s->dump;
}

/* Reports the findings of the execution, although its crashes could not be explored. */
static void tell_unexplored(struct report *report, const struct error *err)
{
	char *why = xasprintf("no crash was explored: %s", err->msg);

	warn("%s", err->msg);
	report_add_reason(report, why);
	free(why);
}

/* Says that no crash was explored, because a clean report looks as if crashes had been. */
static void tell_unasked(struct report *report)
{
	struct report_coverage coverage = *report_coverage(report);

	coverage.not_asked =
		"Crashes were not explored, so ordering and atomicity bugs were not looked for: that needs --recover, --check or --dump";
	report_set_coverage(report, &coverage);
}

/* Makes a finished report. is_whole: finding nothing means that there is nothing. */
static struct report *judge(const struct checking *c, struct crash_setup *s,
			    struct reporting *reporting, const struct platform_traces *traces,
			    const char *kept, bool *has_found, bool *is_whole)
{
	const char *trace = traces->list.at[0].path;
	bool is_explored = true, is_ranked = true;
	struct report *report = check_options_judge(c, traces, is_whole);
	struct error err, unranked;
	int has_crashes = 0;

	s->is_platform_told = true;
	if (wants_crashes(s) && !s->has_files)
		is_ranked = ranking_tell(s, trace, report, &unranked) == 0;
	if (wants_crashes(s))
		has_crashes = crashing_explore(s, trace, kept, report, &is_explored, &err);
	else
		tell_unasked(report);
	if (has_crashes < 0 && s->parts)
		die("%s", err.msg);
	if (has_crashes < 0)
		tell_unexplored(report, &err);
	else if (!is_ranked)
		warn("pmend does not know which unflushed stores recovery reads: %s", unranked.msg);
	if (*is_whole)
		report_add_analysis(report, "check");
	if (wants_crashes(s) && has_crashes >= 0 && is_explored)
		report_add_analysis(report, "crash");
	if (!c->is_all)
		causes_fold(report, trace, &s->libraries,
			    wants_crashes(s) && !s->has_files ? s : NULL);
	crash_setup_add(s, report);
	report_finish(report);
	if (!c->is_all)
		reporting_add_evidence(reporting, report, trace, &s->libraries);
	*has_found = has_crashes > 0;
	*is_whole = *is_whole && is_explored && has_crashes >= 0;
	return report;
}

int test_judge_and_report(const struct checking *c, struct crash_setup *s,
			  struct reporting *reporting, const struct platform_traces *traces,
			  const char *kept, bool *has_found)
{
	bool is_whole;
	struct report *report = judge(c, s, reporting, traces, kept, has_found, &is_whole);

	return reporting_end(reporting, report, is_whole);
}

static int test_trace(const struct checking *c, struct crash_setup *s, struct reporting *reporting,
		      const char *path)
{
	struct platform_traces traces = { 0 };
	struct error err;
	bool has_found;
	int status;

	if (s->parts)
		return crash_explore_and_report(s, reporting, path, path);
	if (!c->is_all)
		*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(path) };
	else if (platform_traces_add(&traces, path, &err) < 0)
		die("%s", err.msg);
	data_before_say(c->recording.notes, path, false);
	status = test_judge_and_report(c, s, reporting, &traces, path, &has_found);
	platform_traces_release(&traces);
	return status;
}

/* Gives the name for a kept trace; each of several tests has its own. */
static char *name_of_trace(const struct reporting *r)
{
	const char *test = r->project ? r->project->test : NULL;
	char *what = test ? xasprintf("crash-%s", test) : xstrdup("crash"),
	     *name = trace_keep_name(what);

	free(what);
	return name;
}

static int test(struct checking *c, struct crash_setup *s, struct reporting *reporting,
		bool is_fresh, char **target)
{
	struct platform_traces traces = { 0 };
	struct pool_option pool;
	struct tempdir folder;
	enum recorded recorded;
	int status = CMD_FAILED;
	struct error err;
	bool has_found;
	char *kept;

	if (tempdir_open(&folder, &err) < 0)
		die("%s", err.msg);
	kept = s->trace ? xstrdup(s->trace) : name_of_trace(reporting);
	c->recording.max_seconds = crash_setup_record_seconds(s);
	reporting->target = target;
	target = pool_option_begin(&pool, &c->recording, target);
	fresh_option_begin(&c->recording, is_fresh);
	recorded = platform_traces_record(&traces, &c->recording, c->is_all, target, folder.path,
					  &err);
	fresh_option_end(&c->recording);
	crash_setup_begin_time(s);
	if (recorded == RECORDED_NOTHING)
		die("%s", err.msg);
	reporting->has_program_failed = recorded != RECORDED_WELL;
	if (recorded == RECORDED_WELL || recorded == RECORDED_FAILURE) {
		data_before_say(c->recording.notes, traces.list.at[0].path, !reporting->quiet);
		status = test_judge_and_report(c, s, reporting, &traces, kept, &has_found);
		trace_keep(traces.list.at[0].path, kept, recorded, has_found || s->trace,
			   reporting);
	} else {
		reporting_fail(recorded_text(recorded), reporting);
	}
	if (recorded != RECORDED_WELL && recorded != RECORDED_FAILURE && traces.list.n > 0) {
		trace_keep(traces.list.at[0].path, kept, recorded, false, reporting);
	}
	platform_traces_release(&traces);
	free(kept);
	pool_option_end(&pool);
	tempdir_close(&folder);
	return status;
}

struct scheduled {
	const struct checking *c;
	struct crash_setup *setup;
	struct reporting *reporting;
};

static struct report *judge_schedule(void *arg, const char *trace, const char *kept, bool *is_whole,
				     bool *is_stopped)
{
	const struct scheduled *s = arg;
	struct platform_traces traces = { 0 };
	struct report *r;
	bool has_found;

	*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(trace) };
	crash_setup_begin_time(s->setup);
	r = judge(s->c, s->setup, s->reporting, &traces, kept, &has_found, is_whole);
	*is_stopped = s->setup->watch->is_interrupted(s->setup->watch->arg);
	platform_traces_release(&traces);
	return r;
}

/* Records the program under several orders of its threads, and tests each. */
static int test_schedules(struct checking *c, struct crash_setup *s, struct reporting *reporting,
			  const struct schedules_option *o, bool is_fresh, char **target)
{
	struct scheduled scheduled = { c, s, reporting };
	const struct schedule_judge of_each = { judge_schedule, &scheduled };

	c->options.is_schedule = true;
	s->options.may_lack_news = true; /* another schedule may do more */
	c->recording.max_seconds = crash_setup_record_seconds(s);
	return schedules_option_run(o, "crash", &c->recording, is_fresh, target, reporting,
				    &of_each);
}

static void check_trace_options(const struct command *command, const struct checking *c,
				const struct crash_setup *s, bool has_trace, bool is_fresh)
{
	if (has_trace && c->recording.old_bytes)
		die_usage(command,
			  "--old-bytes applies only to recording a program, not to a trace");
	if (has_trace && is_fresh)
		die_usage(command, "--fresh applies only to recording a program, not to a trace");
	if (has_trace && s->recording.pm.n > 0)
		die_usage(command, "--pm applies only to recording a program, not to a trace");
	if (has_trace && s->trace)
		die_usage(command, "--trace applies only to recording a program, not to a trace");
	if (s->shard.of && !wants_crashes(s))
		die_usage(
			command,
			"--shard divides the crashes among parts: give --recover, --check or --dump");
}

static int test_run(const struct command *command, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	struct checking c = { 0 };
	struct shard_options shard = { 0 };
	struct word_list checks = { 0 };
	struct keeper keeper = { 0 };
	struct schedules_option schedules = { 0 };
	bool has_trace, is_fresh = false, is_asked = false, no_project = false;
	struct progress recording;
	const struct option table[] = {
		CHECKING_OPTIONS(&c),           CRASH_OPTIONS(&s),
		REPORTING_OPTIONS(&reporting),  FAIL_ON_OPTION(&reporting),
		FILES_OPTIONS(&c.recording),    THREADS_OPTIONS(&c.recording),
		SCHEDULES_OPTIONS(&schedules),  FRESH_OPTION(&is_fresh),
		OLD_BYTES_OPTION(&c.recording), RECIPE_OPTIONS(&c.recording.recipe),
		SHARD_OPTIONS(&shard),          PROGRESS_OPTION(&is_asked),
		PROJECT_OPTION(&no_project),    { 0 }
	};
	int n = tests_parse(command, table, &reporting, argc, &argv), status;

	if (n > 1 && is_trace_name(argv[0]))
		die_usage(command, "one trace or a program, not both: %s is a trace", argv[0]);
	has_trace = n == 1 && is_trace_name(argv[0]);
	s.shard = shard_option_set(command, &shard, &reporting, has_trace);
	check_trace_options(command, &c, &s, has_trace, is_fresh);
	files_option_check(command, &c.recording, argv, has_trace);
	threads_option_check(command, &c.recording, argv, has_trace);
	reporting_begin(command, &reporting);
	check_options_begin(command, &c, s.platform);
	files_option_profile(command, c.profile,
			     has_trace ? files_option_is_followed(argv[0])
				       : c.recording.files.n > 0 || words_have(argv, SCRATCH_DIR));
	if (c.is_all && wants_crashes(&s))
		die_usage(
			command,
			"--platform all cannot be combined with --recover; explore crashes on one platform at a time");
	schedules.folder = s.trace;
	schedules_option_check(command, &schedules, &c.recording, has_trace, c.is_all);
	if (c.is_all)
		s.platform = NULL;
	word_list_append(&s.library_globs, &c.library_globs);
	crash_options_begin(command, &s);
	if (wants_crashes(&s))
		files_option_fit(command, &s, &c.recording, argv, has_trace);
	recipe_option_begin(command, &c.recording.recipe, &s.timeout, has_trace, argv);
	if (s.shard.of) {
		checking_tell(&c, &checks);
		keeper_init(&keeper, &s, &checks, reporting.output, shard.part != NULL);
	}
	crash_progress_init(&progress, is_asked, reporting.quiet);
	s.watch = &progress.watch;
	record_progress_begin(&recording, &c.recording, is_asked, reporting.quiet);
	c.recording.pm = s.recording.pm;
	s.recording.pm = (struct word_list){ 0 };
	c.recording.quiet = c.recording.is_passing = true;
	if (!c.recording.platform && !has_trace)
		recording_open_platform(&c.recording, !c.is_all);
	status = has_trace ? test_trace(&c, &s, &reporting, argv[0])
		 : schedules.n.is_set
			 ? test_schedules(&c, &s, &reporting, &schedules, is_fresh, argv)
			 : test(&c, &s, &reporting, is_fresh, argv);
	keeper_release(&keeper);
	word_list_release(&checks);
	crash_setup_end(&s);
	checking_end(&c);
	return status;
}

const struct command cmd_test = {
	.name = "test",
	.help = "record, check, explore crashes, and report in one go",
	.operands = "(FILE.pmt | -- CMD [ARG]... | [NAME]...)",
	.run = test_run,
};
