/* pmend check: judges one execution, given as a trace or recorded on the spot. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/check_options.h"
#include "cmd/reporting.h"
#include "session/native.h"
#include "session/scratch.h"
#include "util/alloc.h"

static int judge(const struct checking *c, struct reporting *reporting, const struct platform_traces *traces)
{
	bool is_complete;
	struct report *r = check_options_judge(c, traces, &is_complete);

	report_finish(r);
	return reporting_end(reporting, r, is_complete);
}

static int judge_file(const struct checking *c, struct reporting *reporting, const char *path)
{
	struct platform_traces traces = { 0 };
	struct error err;
	int status;

	if (!c->is_all)
		*vec_add(&traces.list) = (struct platform_trace){ xstrdup(path), NULL };
	else if (platform_traces_add(&traces, path, &err) < 0)
		die("%s", err.msg);
	status = judge(c, reporting, &traces);
	platform_traces_release(&traces);
	return status;
}

/* Records to temporary traces, judges those, and leaves nothing behind. */
static int record_and_judge(struct checking *c, struct reporting *reporting, char **target)
{
	struct error err;
	char *folder = scratch_folder(&err);
	const struct platform *asked = c->recording.platform;
	struct platform_traces traces = { 0 };
	int recorded, status = CMD_FAILED;

	if (!folder)
		die("%s", err.msg);
	c->recording.quiet = true;
	if (!asked || !native_has(asked))
		c->recording.platform = native_platform(); /* what it would do there is asked of what it does here */
	recorded = platform_traces_record(&traces, &c->recording, c->is_all, target, folder, &err);
	if (asked)
		c->recording.platform = asked;
	if (recorded == 0)
		status = judge(c, reporting, &traces);
	platform_traces_remove(&traces);
	platform_traces_release(&traces);
	rmdir(folder);
	free(folder);
	if (recorded < 0)
		die("%s", err.msg);
	return status;
}

static int check_run(const struct command *command, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	struct checking c = { 0 };
	const char *platform = NULL;
	const struct option table[] = {
		{ "platform", 0, "P", "x86-adr, eadr, msync, arm64, arm64-poc or all (default: the trace's, or x86-adr)", OPTION_STRING, &platform },
		CHECKING_OPTIONS(&c),
		REPORTING_OPTIONS(&reporting),
		FAIL_ON_OPTION(&reporting),
		{ "no-trust", 0, NULL, "judge PMDK's libraries like other code: on arm64, their dmb is no dsb", OPTION_FLAG, &c.no_trust },
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST, &c.recording.pm },
		{ 0 },
	};
	int n = options_parse(command, table, OPTIONS_FIRST, argc, argv), status;

	if (n == 0)
		die_usage(command, "a trace or a program is needed");
	reporting_begin(command, &reporting);
	check_options_begin(command, &c, platform);
	if (n == 1 && is_trace_name(argv[0]))
		status = judge_file(&c, &reporting, argv[0]);
	else
		status = record_and_judge(&c, &reporting, argv);
	checking_end(&c);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.help = "find durability and performance bugs in one execution",
	.operands = "(FILE.pmt | -- CMD [ARG]...)",
	.run = check_run,
};
