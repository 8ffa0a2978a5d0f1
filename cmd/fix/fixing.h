/* Declares the state of a `pmend fix`, which cmd_fix.c and ask.c share. */
#ifndef CMD_FIX_FIXING_H
#define CMD_FIX_FIXING_H

#include "cmd/cmd.h"
#include "cmd/fix/progress.h"
#include "record/recipe.h"
#include "repair/repair.h"
#include "repair/verify/cures.h"
#include "report/bug.h"
#include "report/outcome.h"

struct fixing {
	struct recipe recipe; /* of --verify; without a client, the report's recipe is used */
	const char *build_dir, *output, *root, *verify, *run, *outcome;
	bool apply, interactive, no_whatif, keeps_scratch, quiet;
	struct repair_options options;
	struct cure_options cures;
	struct word_list only, fail_on_words;
	/* private */
	const char *report_path;
	const struct report *report;
	struct repair_bug **bugs; /* of the report */
	struct report_fail_on fail_on;
	struct repair *repair;
	struct cure_effort effort;
	struct fix_progress progress;
	bool was_interrupted;
	char *real_root; /* absolute, without a slash at the end unless it is "/" */
};

/* Asks for each change whether to make it, and plans again with the accepted ones. */
void fixing_ask(struct fixing *f);

#endif
