/* From bugs to changes of the source. Flushes and fences are added (and the braces and temporaries that they need), so that a
 * program never loses an order or a write-back that it had; removed are only those that the statement before makes redundant. What
 * cannot be changed safely is left, with a reason.
 *
 *	repair_new(), repair_add() for each bug, repair_plan(), then repair_outcome() and repair_file(). */
#ifndef REPAIR_REPAIR_H
#define REPAIR_REPAIR_H

#include <stdbool.h>
#include <stdio.h>

#include "source/source.h"

struct repair_frame {
	const char *function, *file; /* NULL if not known */
	const char *text;	     /* what the line said when the report was made, without blanks around it; NULL if not known */
	uint32_t line, column;
};

/* Where a store, flush or fence is: from the frame to look at outwards. */
struct repair_place {
	const char *role;
	const struct repair_frame *frames;
	size_t nframes;
};

/* What trying it on the trace said about how to mend a bug that a crash shows. */
enum repair_cure_kind {
	CURE_UNTRIED,	 /* there was no crash */
	CURE_BARRIER,	 /* the flushes and fences that the places tell */
	CURE_TX,	 /* a transaction around `stores` */
	CURE_LOG,	 /* `stores` are in one already, which must log them */
	CURE_WITH_OTHER, /* what mends bug number `other` */
	CURE_NONE,	 /* `why` */
};

struct repair_cure {
	enum repair_cure_kind kind;
	size_t other;
	const char *why;
	const struct repair_place *stores; /* in their order, each call path once */
	size_t nstores;
	const struct repair_place *observed; /* each call path of the recorded run once: "store", "logged" if a transaction undoes all it did,
					      * "library" if libpmemobj did it on its own, "other" */
	size_t nobserved;
};

struct repair_bug {
	const char *id, *kind;
	const struct repair_place *places;
	size_t nplaces;
	uint64_t count, executions; /* times seen; times that the flush or fence was executed, 0: not known */
	struct repair_cure cure;
};

struct repair_options {
	const char *build_dir;
	const char *root; /* absolute: nothing outside is changed; NULL: no limit */
	const char *flush_call, *fence_call; /* NULL: as the code base does */
	bool is_explained;		     /* a comment at each change */
	bool no_hoist;			     /* changes stay in the function that stores */
	bool keeps_redundant;		     /* nothing is removed */
};

/* What became of a bug. */
enum repair_status {
	REPAIR_MENDED,
	REPAIR_DECLINED,
	REPAIR_SUGGESTED, /* work that achieved nothing, but the source does not prove that it never will */
	REPAIR_OTHER,	  /* not a kind that is mended here */
};
struct repair_outcome {
	enum repair_status status;
	const char *text; /* what was done, or why not */
};

struct repair_file {
	const char *path; /* absolute */
	const char *before, *after;
};

struct repair;
/* Borrows what it is given. */
struct repair *repair_new(const struct source_api *api, const struct source_database *db, const struct repair_options *o);
void repair_free(struct repair *r);
void repair_add(struct repair *r, const struct repair_bug *b);
/* May be called again, after repair_choose(). */
void repair_plan(struct repair *r);
/* Whether the next plan mends this bug; all are wanted at first. */
void repair_choose(struct repair *r, size_t bug, bool is_wanted);
/* After a plan: bugs of the same group, which is a bug's number, are mended by changes that belong together. */
size_t repair_group(const struct repair *r, size_t bug);

struct repair_outcome repair_outcome(const struct repair *r, size_t bug);
size_t repair_nfiles(const struct repair *r); /* that change */
struct repair_file repair_file(const struct repair *r, size_t i);
/* What the plan had to do without, and why; NULL: nothing. */
const char *repair_missing(const struct repair *r);
size_t repair_nflushes(const struct repair *r);
size_t repair_nfences(const struct repair *r);
size_t repair_nremoved(const struct repair *r); /* statements */
size_t repair_ntransactions(const struct repair *r);

/* The change of one file as a unified diff with the name a/NAME and b/NAME. */
void repair_diff(FILE *f, const char *name, const char *before, const char *after);

#endif
