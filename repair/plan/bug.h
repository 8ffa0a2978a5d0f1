/* What is to be mended: bugs as repair is told them, and what became of each. */
#ifndef REPAIR_PLAN_BUG_H
#define REPAIR_PLAN_BUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repair/plan/watch.h"

struct repair_frame {
	const char *function, *file; /* NULL if not known */
	/* what the line said when the report was made, without blanks around it; NULL if not
	 * known */
	const char *text;
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
	CURE_UNTRIED, /* there was no crash */
	/* the flushes and fences that the places tell; both for each store that is lost, if
	 * is_full */
	CURE_BARRIER,
	CURE_TX,         /* a transaction around `stores` */
	CURE_LOG,        /* `stores` are in one already, which must log them */
	CURE_WITH_OTHER, /* what mends bug number `other` */
	CURE_NONE,       /* `why` */
};

struct repair_cure {
	enum repair_cure_kind kind;
	bool is_full;
	bool is_within; /* between stores of one line, which a macro makes */
	/* fences that are missing alone may also come just before the store that survived */
	bool is_late;
	size_t other;
	const char *why;
	const struct repair_place *stores; /* in their order, each call path once */
	size_t nstores;
	/* each call path of the recorded run once: "store", "logged" if a transaction undoes all it
	 * did, "library" if libpmemobj did it on its own, "other" */
	const struct repair_place *observed;
	size_t nobserved;
};

struct repair_bug {
	const char *id, *kind;
	const struct repair_place *places;
	size_t nplaces;
	/* times seen; times that the flush or fence was executed, 0: not known */
	uint64_t count, executions;
	size_t origin; /* the finding that this is a call path of */
	/* the origin of the finding that goes along with it, if has_cause */
	size_t cause;
	bool has_cause;
	const char *library; /* that did it on its own; NULL: it is the user's */
	bool is_left_out;    /* the user asks for others */
	struct repair_cure cure;
};

/* Does the report list it under a store that its transaction does not log, or is it such a store
 * that a crash loses? Then the log is what is missing, whatever this one says. NULL: neither. */
const struct repair_bug *bug_add_of(const struct repair_bug *const *bugs, size_t n,
				    const struct repair_bug *b);
bool bug_goes_with_add(const struct repair_bug *const *bugs, size_t n, const struct repair_bug *b);

struct repair_options {
	const char *root; /* absolute: nothing outside is changed; NULL: no limit */
	const char *flush_call, *fence_call; /* NULL: as the code base does */
	bool is_explained;                   /* a comment at each change */
	bool no_hoist;                       /* changes stay in the function that stores */
	bool keeps_redundant;                /* nothing is removed */
	/* the bugs are those of msync: pages are synced, no line is flushed */
	bool is_page_cache;
	const struct repair_watch *watch; /* NULL: nobody */
};

/* What became of a bug. */
enum repair_status {
	REPAIR_MENDED,
	REPAIR_DECLINED,       /* left as it is */
	REPAIR_NOT_APPLICABLE, /* nothing in this source is to be changed for it */
	REPAIR_STATUSES
};
struct repair_outcome {
	enum repair_status status;
	const char *text; /* what was done, or why not */
	/* what would help; NULL: what helps against all bugs of this kind, "": the text says it */
	const char *help;
};

#endif
