/* Parses the words of a `pmend crash` command line that a report contains. `pmend fix` needs the
 * words to run recovery again on the states of the report, `pmend merge` to set up the exploration
 * whose parts are merged. */
#include "cmd/crash_words.h"

#include "cmd/check_options.h"
#include "cmd/crash_options.h"

static int parse(struct crash_setup *s, int argc, char **argv)
{
	struct crash_replay_options replay = { 0 }; /* dropped: each replay has another state */
	const struct option table[] = { CRASH_PACKED_OPTIONS(s),
					CRASH_REPLAY_OPTIONS(&replay),
					{ 0 } };

	return options_parse(&cmd_crash, table, OPTIONS_FIRST, argc, argv);
}

static void begin(struct crash_setup *s)
{
	crash_options_begin(&cmd_crash, s);
}

const struct crash_reader crash_words = { parse, begin };
