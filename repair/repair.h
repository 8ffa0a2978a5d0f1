/* From bugs to changes of the source. Flushes and fences are added (and the braces and temporaries
 * that they need), so that a program never loses an order or a write-back that it had; removed are
 * only those that what comes before makes redundant. What cannot be changed safely is left, with a
 * reason.
 *
 * repair_new(), repair_add() for each bug, repair_plan(), then repair_outcome() and
 * repair_file(). */
#ifndef REPAIR_REPAIR_H
#define REPAIR_REPAIR_H

#include <stdbool.h>

#include "repair/plan/bug.h"
#include "source/source.h"

struct repair_file {
	const char *path; /* absolute */
	const char *before, *after;
};

struct repair;
/* Borrows what it is given. */
struct repair *repair_new(const struct source_api *api, const struct source_database *db,
			  const struct repair_options *o);
void repair_free(struct repair *r);
void repair_add(struct repair *r, const struct repair_bug *b);
/* May be called again, after repair_choose(). */
void repair_plan(struct repair *r);
/* Whether the next plan mends this bug; at first, all are wanted that are not left out. */
void repair_choose(struct repair *r, size_t bug, bool is_wanted);
/* After a plan: bugs of the same group, which is a bug's number, are mended by changes that belong
 * together. */
size_t repair_group(const struct repair *r, size_t bug);

struct repair_outcome repair_outcome(const struct repair *r, size_t bug);
size_t repair_nfiles(const struct repair *r); /* that change */
struct repair_file repair_file(const struct repair *r, size_t i);
/* What the plan had to do without, and why; NULL: nothing. */
const char *repair_missing(const struct repair *r);
/* files that were not compiled with the change, as that was interrupted */
size_t repair_nunchecked(const struct repair *r);
size_t repair_nflushes(const struct repair *r);
size_t repair_nfences(const struct repair *r);
size_t repair_nremoved(const struct repair *r); /* statements */
size_t repair_namended(const struct repair *r); /* flushes that were there, and helpers */
size_t repair_ntransactions(const struct repair *r);
/* ranges that transactions of the program did not log */
size_t repair_nlogs(const struct repair *r);

#endif
