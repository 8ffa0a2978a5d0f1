/* Describes the bugs that repair is given, and the outcome of each. */
#ifndef REPAIR_PLAN_BUG_H
#define REPAIR_PLAN_BUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repair/plan/watch.h"

struct repair_frame {
	const char *function, *file; /* NULL: unknown */
	/* the source line when the report was made, without blanks around it; NULL: unknown */
	const char *text;
	uint32_t line, column;
};

/* The place of a store, flush or fence: a stack that begins at the frame to show. */
struct repair_place {
	const char *role;
	const struct repair_frame *frames;
	size_t nframes;
};

/* What a trial on the trace showed about how to fix a bug that a crash shows. */
enum repair_cure_kind {
	CURE_UNTRIED, /* there was no crash */
	/* the flushes and fences that the places call for; is_full: both for each lost store */
	CURE_BARRIER,
	CURE_TX,         /* a transaction around `stores` */
	CURE_LOG,        /* a transaction that contains `stores` must log them */
	CURE_WITH_OTHER, /* the fix of bug number `other` */
	CURE_NONE,       /* nothing helps; `why` says why */
};

struct repair_cure {
	enum repair_cure_kind kind;
	bool is_full;
	/* the two stores are made by one line (a macro), so the flush and fence go between them */
	bool is_within;
	/* missing fences may also come just before the store that survived */
	bool is_late;
	size_t other;
	const char *why;
	const struct repair_place *stores; /* in the order of execution, each call path once */
	size_t nstores;
	/* each call path of the recorded run once. Roles: "store"; "logged": a transaction undoes
	 * all it did; "library": libpmemobj did it on its own; "other" */
	const struct repair_place *observed;
	size_t nobserved;
};

struct repair_bug {
	const char *id, *kind;
	const struct repair_place *places;
	size_t nplaces;
	/* times seen; times that the flush or fence was executed (0: unknown) */
	uint64_t count, executions;
	size_t origin; /* number of the finding of which this is a call path */
	/* if has_cause: number of the finding that causes this one */
	size_t cause;
	bool has_cause;
	const char *library; /* the library that has the bug; NULL: the user's code */
	bool is_left_out;    /* the user asked for other bugs only */
	bool is_of_files;    /* it is about files that were followed */
	struct repair_cure cure;
};

/* Returns the tx-missing-add finding that explains this bug: the report lists the bug under it, or
 * all stores that the crash loses are stores that lack a log. Then the log must be added, whatever
 * the bug's own kind is. NULL: no missing log explains the bug. */
const struct repair_bug *bug_add_of(const struct repair_bug *const *bugs, size_t n,
				    const struct repair_bug *b);
bool bug_goes_with_add(const struct repair_bug *const *bugs, size_t n, const struct repair_bug *b);

struct repair_options {
	const char *root; /* absolute path; no file outside is changed. NULL: no limit */
	const char *flush_call, *fence_call; /* NULL: as the code base does */
	bool is_explained;                   /* write a comment at each change */
	bool no_hoist;                       /* flushes stay in the function that stores */
	bool keeps_redundant;                /* remove nothing */
	/* the bugs are of platform msync: pages are synced, no line is flushed */
	bool is_page_cache;
	const struct repair_watch *watch; /* NULL: nobody watches */
};

/* The outcome of a bug. */
enum repair_status {
	REPAIR_MENDED,
	REPAIR_DECLINED,       /* left as it is */
	REPAIR_NOT_APPLICABLE, /* nothing in this source needs a change */
	REPAIR_STATUSES
};
struct repair_outcome {
	enum repair_status status;
	const char *text; /* what was done, or why not */
	/* what would help; NULL: the advice for this kind; "": the text says it */
	const char *help;
};

#endif
