/* What the files of `pmend fix` share. */
#ifndef CMD_FIXING_H
#define CMD_FIXING_H

#include "cmd/cmd.h"
#include "repair/repair.h"
#include "report/bug.h"
#include "session/crash_setup.h"

struct fixing {
	const char *build_dir, *output, *root, *verify, *run;
	bool apply, interactive, no_whatif, keeps_scratch, quiet;
	struct repair_options options;
	const struct crash_reader *crash_reader;
	/* inside */
	const char *report_path;
	const struct report *report;
	struct repair *repair;
	const char *trace; /* by which bugs of `crash` were tried; NULL if there is none; fix_cures owns it */
	char *real_root; /* absolute, without a slash at the end, unless it is all */
};

/* fix_root.c: the root that paths of the patch are relative to. -1 if there is no such folder. */
int fixing_root_read(struct fixing *f, struct error *err);
void fixing_root_find(struct fixing *f); /* once it is known what changes */
/* The path below the root, which holds it. */
const char *fixing_below(const struct fixing *f, const char *path);

/* Tries on the trace what would mend the bugs that a crash shows, and tells the bugs. */
struct fix_cures;
struct fix_cures *fixing_cure(struct fixing *f, struct repair_bug **bugs);
void fix_cures_free(struct fix_cures *c);

/* Asks for each change whether it is wanted, and plans anew with those that are. */
void fixing_ask(struct fixing *f);

/* Builds the original and the mended tree in scratch folders, runs the program in both, compares. Returns enum cmd_status. */
int fixing_verify(struct fixing *f);

#endif
