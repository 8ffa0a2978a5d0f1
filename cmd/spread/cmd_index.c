/* pmend index: a file beside a trace, by which each part of an exploration begins in the middle of it. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/check_options.h"
#include "cmd/cmd.h"
#include "cmd/crash_options.h"
#include "cmd/talk/progress.h"
#include "crash/index/index.h"
#include "session/scratch.h"

struct indexing {
	struct progress progress;
	uint64_t nevents;
};

static bool tell(uint64_t seq, void *arg)
{
	struct indexing *i = arg;

	progress_tell(&i->progress, "indexing: event %" PRIu64 " of %" PRIu64, seq, i->nevents);
	return true;
}

static void say_made(const char *path, const struct index_size *size, const struct plan *p)
{
	warn("%s: %" PRIu64 " bytes, %" PRIu64 " %% of the trace; %" PRIu64 " failure points, %" PRIu64 " checkpoints", path, size->bytes,
	     size->bytes * 100 / trace_size_bytes(p->trace), size->points, size->checkpoints);
}

static int index_run(const struct command *c, int argc, char **argv)
{
	struct crash_setup s = { 0 };
	struct indexing now = { 0 };
	struct optional_number events = { 0 }, percent = { 0 };
	bool is_quiet = false, is_asked = false;
	const struct option table[] = {
		CRASH_PACKED_OPTIONS(&s),
		{ "events", 0, "N", "at least N events from one checkpoint to the next (default: 1000)", OPTION_NUMBER, &events },
		{ "percent", 0, "N", "checkpoints take at most N % of the trace's size (default: 6)", OPTION_NUMBER, &percent },
		{ "quiet", 'q', NULL, "say nothing", OPTION_FLAG, &is_quiet },
		PROGRESS_OPTION(&is_asked),
		{ 0 },
	};
	struct index_limits limits = index_usual;
	struct index_size size;
	struct plan *p;
	struct error err;
	char *path;
	int result;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1 || !is_trace_name(argv[0]))
		die_usage(c, "exactly one trace is needed, FILE.pmt");
	limits.events = events.is_set ? events.n : limits.events;
	limits.percent = percent.is_set ? percent.n : limits.percent;
	crash_options_begin(c, &s);
	p = crash_setup_plan(&s, argv[0], &err);
	if (!p)
		die("%s", err.msg);
	path = xasprintf("%s" INDEX_ENDING, argv[0]);
	now.nevents = p->nevents;
	progress_begin(&now.progress, is_asked);
	result = index_make(p, s.options.stops, &limits, path, tell, &now, &size, &err);
	progress_clear(&now.progress);
	if (result < 0)
		die("%s", err.msg);
	if (!is_quiet)
		say_made(path, &size, p);
	free(path);
	plan_free(p);
	crash_setup_end(&s);
	return CMD_CLEAN;
}

const struct command cmd_index = {
	.name = "index",
	.help = "let the parts of an exploration begin in the middle of a long trace",
	.operands = "FILE.pmt",
	.run = index_run,
};
