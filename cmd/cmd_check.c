/* pmend check: checks one execution, from a trace or recorded first; or several traces, in one
 * report. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/crash_options.h"
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
#include "pools/data_before.h"
#include "account/causes/causes.h"
#include "record/machine.h"
#include "util/files.h"
#include "distribute/shard/checks.h"
#include "util/alloc.h"
#include "util/tempdir.h"

/* Makes a finished report. */
static struct report *judge_report(const struct checking *c, const struct reporting *reporting,
				   const struct platform_traces *traces, bool *is_complete)
{
	struct report *r = check_options_judge(c, traces, is_complete);

	if (*is_complete)
		report_add_analysis(r, "check");
	if (!c->is_all)
		causes_fold(r, traces->list.at[0].path, &c->libraries, NULL);
	report_finish(r);
	if (!c->is_all)
		reporting_add_evidence(reporting, r, traces->list.at[0].path, &c->libraries);
	return r;
}

static int judge(const struct checking *c, struct reporting *reporting,
		 const struct platform_traces *traces)
{
	bool is_complete;
	struct report *r = judge_report(c, reporting, traces, &is_complete);

	return reporting_end(reporting, r, is_complete);
}

static int judge_file(const struct checking *c, struct reporting *reporting, const char *path)
{
	struct platform_traces traces = { 0 };
	struct error err;
	int status;

	if (!c->is_all)
		*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(path) };
	else if (platform_traces_add(&traces, path, &err) < 0)
		die("%s", err.msg);
	data_before_say(c->recording.notes, path, false);
	status = judge(c, reporting, &traces);
	platform_traces_release(&traces);
	return status;
}

static void judge_one_of(struct checks *k, size_t i, const struct checking *c,
			 const struct reporting *reporting)
{
	struct platform_traces one = { 0 };
	struct report *r;
	struct error err;
	bool is_whole;

	*vec_add(&one.list) = (struct platform_trace){ .path = xstrdup(k->list.at[i].name) };
	data_before_say(c->recording.notes, k->list.at[i].name, false);
	r = judge_report(c, reporting, &one, &is_whole);
	checks_done(k, i, r, is_whole);
	platform_traces_release(&one);
	if (k->path && checks_keep(k, &err) < 0)
		die("%s", err.msg);
}

/* Judges several traces, or a part of them. */
static int judge_files(const struct checking *c, struct reporting *reporting, struct checks *k)
{
	struct report *r;
	struct error err;
	bool is_whole;
	int status;

	for (size_t i = 0; i < k->list.n; i++)
		if (k->list.at[i].is_ours && !k->list.at[i].report)
			judge_one_of(k, i, c, reporting);
	r = checks_sum(k, &is_whole, &err);
	if (!r)
		die("%s", err.msg);
	if (is_whole)
		report_add_analysis(r, "check");
	if (k->shard.of)
		checks_tell(k, r);
	report_finish(r);
	status = reporting_end(reporting, r, is_whole);
	checks_release(k);
	return status;
}

/* Records temporary traces and judges them. If the program failed, it is judged up to its failure,
 * and its trace is kept. */
static int record_and_judge(struct checking *c, struct reporting *reporting, bool is_fresh,
			    char **target)
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
	c->recording.quiet = c->recording.is_passing = true;
	if (!c->recording.platform)
		recording_open_platform(&c->recording, !c->is_all);
	kept = trace_keep_name("check");
	reporting->target = target;
	target = pool_option_begin(&pool, &c->recording, target);
	fresh_option_begin(&c->recording, is_fresh);
	recorded = platform_traces_record(&traces, &c->recording, c->is_all, target, folder.path,
					  &err);
	fresh_option_end(&c->recording);
	if (recorded == RECORDED_NOTHING)
		die("%s", err.msg);
	reporting->has_program_failed = recorded != RECORDED_WELL;
	if (recorded == RECORDED_WELL || recorded == RECORDED_FAILURE) {
		data_before_say(c->recording.notes, traces.list.at[0].path, !reporting->quiet);
		status = judge(c, reporting, &traces);
	} else {
		reporting_fail(recorded_text(recorded), reporting);
	}
	if (traces.list.n > 0)
		trace_keep(traces.list.at[0].path, kept, recorded, false, reporting);
	free(kept);
	platform_traces_release(&traces);
	pool_option_end(&pool);
	tempdir_close(&folder);
	return status;
}

struct scheduled {
	const struct checking *c;
	const struct reporting *reporting;
};

static struct report *judge_schedule(void *arg, const char *trace, const char *kept, bool *is_whole,
				     bool *is_stopped)
{
	const struct scheduled *s = arg;
	struct platform_traces traces = { 0 };
	struct report *r;

	(void)kept;
	(void)is_stopped;
	*vec_add(&traces.list) = (struct platform_trace){ .path = xstrdup(trace) };
	r = judge_report(s->c, s->reporting, &traces, is_whole);
	platform_traces_release(&traces);
	return r;
}

/* Records the program under several orders of its threads, and judges each. */
static int record_schedules(struct checking *c, struct reporting *reporting,
			    const struct schedules_option *o, bool is_fresh, char **target)
{
	struct scheduled s = { c, reporting };
	const struct schedule_judge judge = { judge_schedule, &s };

	if (!c->recording.platform)
		recording_open_platform(&c->recording, true);
	c->options.is_schedule = true;
	return schedules_option_run(o, "check", &c->recording, is_fresh, target, reporting, &judge);
}

static bool are_traces(char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (!is_trace_name(words[i]))
			return false;
	return true;
}

static void begin_files(const struct command *command, struct checks *k, const struct checking *c,
			const struct reporting *reporting, const struct shard_options *o,
			struct shard shard, const char *platform, char **traces, size_t n)
{
	struct error err;

	if (c->is_all)
		die_usage(command, "--platform all is for one trace, and not for parts");
	if (checks_init(k, traces, n, shard, c, platform, &err) < 0)
		die("%s", err.msg);
	k->path = o->part ? reporting->output : NULL;
	if (k->path && checks_go_on(k, &err) < 0)
		die("%s", err.msg);
}

static int check_run(const struct command *command, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	struct checking c = { 0 };
	struct shard_options shard_options = { 0 };
	struct checks checks = { 0 };
	struct shard shard;
	const char *platform = NULL;
	bool has_traces, is_fresh = false, is_asked = false, no_project = false;
	struct optional_number timeout = { 0 };
	struct schedules_option schedules = { 0 };
	struct progress progress;
	const struct option table[] = {
		{ "platform", 0, "P",
		  "x86-adr (x86-intel, x86-amd), eadr, msync, arm64, arm64-poc or all; for files, \",files\", \",ext4\" or \",xfs\" behind it (default: the trace's, or x86-adr)",
		  OPTION_STRING, &platform },
		CHECKING_OPTIONS(&c),
		REPORTING_OPTIONS(&reporting),
		FAIL_ON_OPTION(&reporting),
		{ "no-trust", 0, NULL,
		  "analyse PMDK's libraries like other code: on arm64, their dmb is not a dsb",
		  OPTION_FLAG, &c.no_trust },
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST,
		  &c.recording.pm },
		FILES_OPTIONS(&c.recording),
		THREADS_OPTIONS(&c.recording),
		SCHEDULES_OPTIONS(&schedules),
		{ "trace", 0, "DIR", "with --schedules: keep all traces in DIR", OPTION_STRING,
		  &schedules.folder },
		FRESH_OPTION(&is_fresh),
		RECIPE_OPTIONS(&c.recording.recipe),
		RECIPE_TIMEOUT_OPTION(&timeout),
		SHARD_OPTIONS(&shard_options),
		PROGRESS_OPTION(&is_asked),
		PROJECT_OPTION(&no_project),
		{ 0 },
	};
	int n = project_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a trace or a program is needed");
	has_traces = are_traces(argv, n);
	if (!has_traces && n > 1 && is_trace_name(argv[0]))
		die_usage(command, "traces or a program, not both: %s is a trace", argv[0]);
	shard = shard_option_set(command, &shard_options, &reporting, has_traces);
	reporting_begin(command, &reporting);
	check_options_begin(command, &c, platform);
	if (is_fresh && has_traces)
		die_usage(command, "--fresh applies only to recording a program, not to a trace");
	if (c.recording.pm.n > 0 && has_traces)
		die_usage(command, "--pm applies only to recording a program, not to a trace");
	files_option_check(command, &c.recording, argv, has_traces);
	files_option_profile(command, c.profile,
			     has_traces ? files_option_is_followed(argv[0])
					: c.recording.files.n > 0 || words_have(argv, SCRATCH_DIR));
	threads_option_check(command, &c.recording, argv, has_traces ? (size_t)n : 0);
	if (schedules.folder && !schedules.n.is_set)
		die_usage(command, "--trace needs --schedules");
	schedules_option_check(command, &schedules, &c.recording, has_traces, c.is_all);
	recipe_option_begin(command, &c.recording.recipe, &timeout, has_traces, argv);
	record_progress_begin(&progress, &c.recording, is_asked, reporting.quiet);
	if (has_traces && (n > 1 || shard.of)) {
		begin_files(command, &checks, &c, &reporting, &shard_options, shard, platform, argv,
			    (size_t)n);
		status = judge_files(&c, &reporting, &checks);
	} else if (has_traces) {
		status = judge_file(&c, &reporting, argv[0]);
	} else if (schedules.n.is_set) {
		status = record_schedules(&c, &reporting, &schedules, is_fresh, argv);
	} else {
		status = record_and_judge(&c, &reporting, is_fresh, argv);
	}
	checking_end(&c);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.help = "find durability and performance bugs in one execution or several",
	.operands = "(FILE.pmt... | -- CMD [ARG]...)",
	.run = check_run,
};
