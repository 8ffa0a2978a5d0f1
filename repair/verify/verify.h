/* Proves a patch: builds, runs and compares the original and the fixed tree. */
#ifndef REPAIR_VERIFY_VERIFY_H
#define REPAIR_VERIFY_VERIFY_H

#include "record/recipe.h"
#include "repair/repair.h"
#include "report/bug.h"
#include "util/notes.h"
#include "util/error.h"

struct verifying {
	/* the user's command; "": the commands of the compilation database in build_dir */
	const char *build;
	const char *build_dir;
	const char *run; /* the command to run; NULL: the recorded one */
	/* how to record a server; without a client, the report's options are used */
	const struct recipe *recipe;
	/* root of both trees: absolute, without a slash at the end unless it is "/" */
	const char *root;
	const char *report_path;
	const struct report *report;
	const struct repair *repair; /* the planned patch */
	const char *trace;           /* the trace on which cures were tried; NULL: none */
	bool keeps_scratch;
	const struct repair_watch *watch; /* NULL: nobody watches */
	const struct notes *notes;
};

/* Proves the patch. 1: it is proven; 0: it is not; -1: that cannot be found out. */
int verify_patch(const struct verifying *v, struct error *err);

#endif
