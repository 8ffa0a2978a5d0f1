/* The proof of a patch: the original and the mended tree are built, run and judged, and
 * compared. */
#ifndef REPAIR_VERIFY_VERIFY_H
#define REPAIR_VERIFY_VERIFY_H

#include "record/recipe.h"
#include "repair/repair.h"
#include "report/bug.h"
#include "util/notes.h"
#include "util/error.h"

struct verifying {
	/* the user's command; "": those of the compilation database, in build_dir */
	const char *build;
	const char *build_dir;
	const char *run;             /* what to run; NULL: what was recorded */
	const struct recipe *recipe; /* of a server; without a client: that of the report */
	/* of both trees: absolute, without a slash at the end, unless it is all */
	const char *root;
	const char *report_path;
	const struct report *report;
	const struct repair *repair; /* that was planned */
	const char *trace;           /* by which cures were tried; NULL: there is none */
	bool keeps_scratch;
	const struct repair_watch *watch; /* NULL: nobody */
	const struct notes *notes;
};

/* 1 if the patch is proven, 0 if not, -1 if that cannot be found out. */
int verify_patch(const struct verifying *v, struct error *err);

#endif
