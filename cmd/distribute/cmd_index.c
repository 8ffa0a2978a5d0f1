/* pmend index: makes a file beside a trace, with which each part of an exploration can begin in the
 * middle of the trace. */
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/platform_option.h"
#include "cmd/pool_option.h"
#include "cmd/talk/progress.h"
#include "util/files.h"
#include "distribute/shard/indexing.h"

static void show_progress(uint64_t seq, uint64_t nevents, void *arg)
{
	progress_tell(arg, "indexing: event %" PRIu64 " of %" PRIu64, seq, nevents);
}

static int index_run(const struct command *c, int argc, char **argv)
{
	struct progress line;
	struct indexing i = { .limits = index_usual, .told = show_progress, .arg = &line };
	struct optional_number events = { 0 }, percent = { 0 };
	const char *platform = NULL, *failure_points = NULL;
	bool is_quiet = false, is_asked = false;
	const struct option table[] = {
		{ "failure-points", 0, "WHERE", "store: before every store, too", OPTION_STRING,
		  &failure_points },
		{ "platform", 0, "P",
		  "the platform of the exploration (default: the trace's, or x86-adr)",
		  OPTION_STRING, &platform },
		{ "pool-creation", 0, NULL, "for an exploration with --pool-creation", OPTION_FLAG,
		  &i.has_pool_creation },
		{ "no-trust", 0, NULL, "for an exploration with --no-trust", OPTION_FLAG,
		  &i.is_distrusting },
		{ "events", 0, "N",
		  "at least N events from one checkpoint to the next (default: 1000)",
		  OPTION_NUMBER, &events },
		{ "percent", 0, "N",
		  "checkpoints take at most N % of the trace's size (default: 6)", OPTION_NUMBER,
		  &percent },
		{ "quiet", 'q', NULL, "print nothing", OPTION_FLAG, &is_quiet },
		PROGRESS_OPTION(&is_asked),
		{ 0 },
	};
	struct index_size size;
	struct error err;
	uint64_t share;
	int result;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1 || !is_trace_name(argv[0]))
		die_usage(c, "exactly one trace is needed, FILE.pmt");
	if (failure_points && strcmp(failure_points, "store") != 0)
		die_usage(c, "--failure-points takes 'store', not '%s'", failure_points);
	files_option_refuse(c, argv[0]);
	i.has_stores = failure_points != NULL;
	i.platform = platform ? platform_option(c, platform, NULL) : NULL;
	i.limits.events = events.is_set ? events.n : i.limits.events;
	i.limits.percent = percent.is_set ? percent.n : i.limits.percent;
	progress_begin(&line, is_asked);
	result = indexing_make(&i, argv[0], &size, &share, &err);
	progress_clear(&line);
	if (result < 0)
		die("%s", err.msg);
	if (!is_quiet)
		warn("wrote %s" INDEX_ENDING ": %" PRIu64 " bytes, %" PRIu64
		     " %% of the trace; %" PRIu64 " failure points, %" PRIu64 " checkpoints",
		     argv[0], size.bytes, share, size.points, size.checkpoints);
	return CMD_CLEAN;
}

const struct command cmd_index = {
	.name = "index",
	.help = "let the parts of an exploration start in the middle of a long trace",
	.operands = "FILE.pmt",
	.run = index_run,
};
