/* pmend pack: makes one file with a trace and everything that its recovery needs, for machines that
 * have none of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bundle/bundle.h"
#include "cmd/check_options.h"
#include "cmd/cmd.h"
#include "cmd/crash_options.h"
#include "cmd/pool_option.h"
#include "distribute/packing/packing.h"
#include "util/files.h"
#include "util/whole_file.h"

static void print_packed(const struct bundle *b, const char *output)
{
	struct stat st = { 0 };
	uint64_t bytes = 0;
	size_t n = 0;

	stat(output, &st);
	for (size_t i = 0; i < b->entries.n; i++) {
		n += b->entries.at[i].kind == BUNDLE_FILE;
		bytes += b->entries.at[i].len_bytes;
	}
	warn("packed %zu files, %" PRIu64 " bytes, into %s, %lld bytes", n, bytes, output,
	     (long long)st.st_size);
}

static int pack_run(const struct command *c, int argc, char **argv)
{
	const char *output = NULL;
	struct crash_setup s = { 0 };
	bool is_quiet = false;
	const struct option table[] = {
		CRASH_PACKED_OPTIONS(&s),
		{ "output", 'o', "FILE.pmb",
		  "write the bundle to FILE.pmb (default: the trace's name with .pmb)",
		  OPTION_STRING, &output },
		{ "quiet", 'q', NULL, "do not list what is packed, only what is not", OPTION_FLAG,
		  &is_quiet },
		{ 0 },
	};
	struct bundle b;
	struct error err;
	char *own;

	if (options_parse(c, table, OPTIONS_ANYWHERE, argc, argv) != 1 || !is_trace_name(argv[0]))
		die_usage(c, "exactly one trace is needed, FILE.pmt");
	own = xasprintf("%.*s.pmb", (int)strlen(argv[0]) - 4, argv[0]);
	output = output ? output : own;
	if (!is_bundle_name(output))
		die_usage(c, "the name of a bundle ends with .pmb, unlike '%s'", output);
	if (s.trace || s.recording.pm.n > 0)
		die_usage(c, "--trace and --pm apply only to recording a program");
	if (whole_file_check(output, &err) < 0)
		die("%s; choose another file with -o", err.msg);
	crash_options_begin(c, &s);
	files_option_fit(c, &s, &s.recording, argv, true);
	bundle_init(&b);
	if (packing_collect(&b, &s, argv[0], &err) < 0 || bundle_write(&b, "", output, &err) < 0)
		die("%s", err.msg);
	for (size_t i = 0; i < b.lacks.n; i++)
		warn("not packed: %s", b.lacks.at[i]);
	if (!is_quiet)
		print_packed(&b, output);
	bundle_release(&b);
	crash_setup_end(&s);
	free(own);
	return CMD_CLEAN;
}

const struct command cmd_pack = {
	.name = "pack",
	.help = "pack a trace and its recovery into one file, to run elsewhere",
	.operands = "FILE.pmt",
	.run = pack_run,
};
