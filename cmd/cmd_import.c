/* pmend import: converts a pmemcheck log to a trace. The trace gets its name only when it is
 * complete, so an unreadable log neither leaves nor destroys anything. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "trace/import.h"
#include "util/alloc.h"

static int import_run(const struct command *c, int argc, char **argv)
{
	const char *output = "pmend.pmt";
	bool is_quiet = false;
	const struct option table[] = {
		{ "output", 'o', "FILE", "write the trace to FILE (default: pmend.pmt)",
		  OPTION_STRING, &output },
		{ "quiet", 'q', NULL, "print nothing on success", OPTION_FLAG, &is_quiet },
		{ 0 },
	};
	struct import_result result;
	struct error err;
	struct stat st;
	char *partial;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1)
		die_usage(c, "exactly one pmemcheck log is needed");
	if (stat(argv[0], &st) == 0 && S_ISDIR(st.st_mode))
		die("%s is a folder, not a pmemcheck log", argv[0]);
	if (stat(output, &st) == 0 && !S_ISREG(st.st_mode))
		die("cannot write %s: a trace must be a regular file; choose another with -o",
		    output);
	partial = xasprintf("%s.partial", output);
	if (import_pmemcheck(argv[0], partial, &result, &err) < 0) {
		unlink(partial);
		die("%s", err.msg);
	}
	if (rename(partial, output) < 0) {
		unlink(partial);
		die("cannot write %s: %s", output, strerror(errno));
	}
	free(partial);
	if (!is_quiet || result.truncated[0])
		warn("imported %" PRIu64 " events on %" PRIu32 " file%s: %s", result.nevents,
		     result.nfiles, result.nfiles == 1 ? "" : "s", output);
	if (result.truncated[0]) {
		warn("%s: %s", argv[0], result.truncated);
		return CMD_FAILED;
	}
	return CMD_CLEAN;
}

const struct command cmd_import = {
	.name = "import",
	.help = "turn a pmemcheck log into a trace",
	.operands = "PMEMCHECK.log",
	.run = import_run,
};
