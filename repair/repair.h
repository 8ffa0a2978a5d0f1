/* Changes the source to fix bugs. Flushes and fences are added, so that a program never loses an
 * order or a write-back that it had. Only flushes and fences that are proven redundant are removed.
 * What cannot be changed safely is left, with a reason.  Use: repair_new(), repair_add() for each
 * bug, repair_plan(), then repair_outcome() and repair_file(). */
#ifndef REPAIR_REPAIR_H
#define REPAIR_REPAIR_H

#include <stdbool.h>

#include "repair/plan/bug.h"
#include "source/source.h"

struct repair_file {
	const char *path; /* absolute path */
	const char *before, *after;
};

struct repair;
/* Makes a repair. It keeps pointers to its arguments, which must live as long. */
struct repair *repair_new(const struct source_api *api, const struct source_database *db,
			  const struct repair_options *o);
void repair_free(struct repair *r);
void repair_add(struct repair *r, const struct repair_bug *b);
/* Plans all changes. May be called again after repair_choose(). */
void repair_plan(struct repair *r);
/* Says whether the next plan fixes this bug. At first, all bugs are wanted that are not left
 * out. */
void repair_choose(struct repair *r, size_t bug, bool is_wanted);
/* Returns the group of a bug, after a plan: the number of one of the group's bugs. Bugs of a group
 * are fixed by changes that belong together. */
size_t repair_group(const struct repair *r, size_t bug);

struct repair_outcome repair_outcome(const struct repair *r, size_t bug);
size_t repair_nfiles(const struct repair *r); /* number of files that change */
struct repair_file repair_file(const struct repair *r, size_t i);
/* Says what the plan had to do without, and why; NULL: nothing. */
const char *repair_missing(const struct repair *r);
/* Returns the number of files that were not test-compiled, because the user interrupted that. */
size_t repair_nunchecked(const struct repair *r);
size_t repair_nflushes(const struct repair *r);
size_t repair_nfences(const struct repair *r);
size_t repair_nsyncs(const struct repair *r);   /* syncs of files and folders */
size_t repair_nremoved(const struct repair *r); /* number of statements */
size_t repair_namended(const struct repair *r); /* number of existing flushes and helpers */
size_t repair_ntransactions(const struct repair *r);
/* Returns the number of ranges that the program's transactions did not log, and now do. */
size_t repair_nlogs(const struct repair *r);

#endif
