/* pmend merge: puts the parts of an exploration together. What depends on all parts is done here; it may run recovery. */
#include "cmd/spread/merge.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/bundled.h"
#include "cmd/cmd_crash.h"
#include "cmd/crash_progress.h"
#include "cmd/crash_words.h"
#include "session/shard/merging.h"
#include "util/alloc.h"

/* The budget of a part is its own; the value is the next word. */
static bool is_parts_own(const char *option)
{
	return strcmp(option, "--max-time") == 0 || strcmp(option, "--max-runs") == 0;
}

/* The words by which the parts were explored. */
static void set_up(struct crash_setup *s, const struct report *part)
{
	const size_t n = report_ncrash_options(part);
	int argc = 1;
	char **argv = xcalloc(n + 2, sizeof *argv);

	argv[0] = xstrdup("crash");
	for (size_t i = 0; i < n; i++)
		if (is_parts_own(report_crash_option(part, i)))
			i++;
		else
			argv[argc++] = xstrdup(report_crash_option(part, i)); /* the setup points to them, to the end */
	crash_words.parse(s, argc, argv);
	crash_words.begin(s);
	free(argv);
}

int merge_parts(char **paths, size_t n, const char *trace, struct reporting *reporting, bool is_asked)
{
	const struct option paths_of[] = { { "output", 'o', "FILE", "", OPTION_STRING, &reporting->output }, { 0 } };
	struct crash_progress progress;
	struct crash_setup s = { 0 };
	struct bundled bundled = { 0 };
	struct merging m;
	struct error err;
	const char *kept;
	int status;

	if (merging_open(&m, paths, n, &err) < 0)
		die("%s", err.msg);
	if (!trace)
		trace = merging_shard(&m)->trace;
	kept = trace;
	if (is_bundle_name(trace))
		trace = bundled_enter(&bundled, paths_of, kept);
	s.kept_in = bundled.home;
	set_up(&s, m.list[0]);
	crash_progress_init(&progress, is_asked);
	s.watch = &progress.watch;
	merging_begin(&m, &s);
	status = crash_explore_and_report(&s, reporting, trace, kept);
	crash_setup_end(&s);
	merging_close(&m);
	bundled_end(&bundled);
	return status;
}

static int merge_run(const struct command *c, int argc, char **argv)
{
	struct reporting reporting = { 0 };
	const char *trace = NULL;
	bool is_asked = false;
	const struct option table[] = { { "trace", 0, "FILE", "the trace or bundle, if it has moved since the parts were made", OPTION_STRING, &trace },
					REPORTING_OPTIONS(&reporting), FAIL_ON_OPTION(&reporting), PROGRESS_OPTION(&is_asked), { 0 } };
	int n = options_parse(c, table, OPTIONS_ANYWHERE, argc, argv);

	if (n == 0)
		die_usage(c, "the parts are needed");
	reporting_begin(c, &reporting);
	return merge_parts(argv, (size_t)n, trace, &reporting, is_asked);
}

const struct command cmd_merge = {
	.name = "merge",
	.help = "combine the parts of an exploration into one report",
	.operands = "PART.json...",
	.run = merge_run,
};
