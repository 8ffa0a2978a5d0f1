/* pmend record: runs a program and writes every persistent-memory operation to a trace. */
#include "cmd/fresh_option.h"
#include "cmd/platform_option.h"
#include "cmd/pool_option.h"
#include "cmd/project_options.h"
#include "cmd/recipe_option.h"
#include "cmd/threads_option.h"
#include "cmd/record_progress.h"
#include "pools/data_before.h"
#include "record/machine.h"
#include "record/recording.h"

static int record_run(const struct command *c, int argc, char **argv)
{
	struct recording r = { .output = "pmend.pmt", .notes = &user_notes };
	const char *platform = NULL;
	bool is_fresh = false, is_asked = false, no_project = false;
	struct optional_number timeout = { 0 };
	struct progress progress;
	const struct option table[] = {
		{ "output", 'o', "FILE", "write the trace to FILE (default: pmend.pmt)",
		  OPTION_STRING, &r.output },
		{ "pm", 0, "GLOB", "only files that match GLOB are persistent memory", OPTION_LIST,
		  &r.pm },
		FILES_OPTIONS(&r),
		{ "platform", 0, "P", "x86-adr (default), eadr or msync", OPTION_STRING,
		  &platform },
		FRESH_OPTION(&is_fresh),
		OLD_BYTES_OPTION(&r),
		RECIPE_OPTIONS(&r.recipe),
		RECIPE_TIMEOUT_OPTION(&timeout),
		THREADS_OPTIONS(&r),
		{ "loads", 0, NULL, "record loads from persistent memory, too", OPTION_FLAG,
		  &r.loads },
		{ "instructions", 0, NULL, "count the instructions that the program executes",
		  OPTION_FLAG, &r.instructions },
		{ "no-follow", 0, NULL, "do not record programs that the program starts",
		  OPTION_FLAG, &r.no_follow },
		{ "check-stacks", 0, NULL,
		  "for debugging pmend: unwind at every event and compare (slow)", OPTION_FLAG,
		  &r.check_stacks },
		PROGRESS_OPTION(&is_asked),
		PROJECT_OPTION(&no_project),
		{ "quiet", 'q', NULL, "print nothing on success", OPTION_FLAG, &r.quiet },
		{ 0 },
	};
	struct error err;
	enum recorded recorded;
	struct pool_option pool;
	bool is_put_back;

	if (project_parse(c, table, OPTIONS_FIRST, argc, argv) == 0)
		die_usage(c, "no program given");
	files_option_check(c, &r, argv, false);
	threads_option_check(c, &r, argv, 0);
	if (platform)
		r.platform = platform_option(c, platform, NULL);
	else
		recording_open_platform(&r, true);
	recipe_option_begin(c, &r.recipe, &timeout, false, argv);
	if (!r.output[0])
		die_usage(c, "-o needs a file name");
	record_progress_begin(&progress, &r, is_asked, r.quiet);
	fresh_option_begin(&r, is_fresh);
	recorded = recording_run(&r, pool_option_begin(&pool, &r, argv), &err);
	is_put_back = fresh_option_end(&r);
	if (recorded == RECORDED_NOTHING)
		die("%s", err.msg);
	if (recorded == RECORDED_WELL)
		data_before_say(r.notes, r.output, !r.quiet);
	pool_option_end(&pool);
	word_list_release(&r.recipe.ready);
	word_list_release(&r.pm);
	word_list_release(&r.files);
	word_list_release(&r.files_except);
	word_list_release(&r.lock_calls);
	word_list_release(&r.unlock_calls);
	return recorded == RECORDED_WELL && is_put_back ? CMD_CLEAN : CMD_FAILED;
}

const struct command cmd_record = {
	.name = "record",
	.help = "run a program and write every persistent-memory operation to a trace",
	.operands = "-- CMD [ARG]...",
	.run = record_run,
};
