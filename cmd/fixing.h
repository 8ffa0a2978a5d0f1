/* What the files of `pmend fix` share. */
#ifndef CMD_FIXING_H
#define CMD_FIXING_H

#include "cmd/cmd.h"
#include "repair/repair.h"
#include "report/bug.h"

struct fixing {
	const char *build_dir, *output, *root, *verify, *run;
	bool apply, quiet;
	struct repair_options options;
	/* inside */
	const char *report_path;
	const struct report *report;
	struct repair *repair;
	char *real_root; /* absolute, without a slash at the end */
};

/* The path below the root; dies if it is not below. */
const char *fixing_below(const struct fixing *f, const char *path);

/* Builds the original and the mended tree in scratch folders, runs the program in both, compares. Returns enum cmd_status. */
int fixing_verify(struct fixing *f);

#endif
