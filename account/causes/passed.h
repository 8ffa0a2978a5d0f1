/* Finds out what the call of a flush passes, and whether two stores belong to one statement, from
 * stacks, debug information and source lines. */
#ifndef ACCOUNT_CAUSES_PASSED_H
#define ACCOUNT_CAUSES_PASSED_H

#include "report/bug.h"
#include "source/locate.h"
#include "source/call_arguments.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/map.h"

/* What the call of a flush passes. It is the same each time for one site. */
struct call {
	enum call_takes takes;
	enum call_given given;
	uint64_t bytes; /* of the object that is given; 0: unknown */
	size_t helper,
		/* frames: the function that has the length parameter, and the one that passes the
		 * length */
		from;
	uint64_t helper_key, from_key; /* their source lines, on any call path */
	bool is_library;               /* the helper is a library's, so it is right */
};

struct passing {
	struct locator *locator;
	struct report *report; /* knows where sources are */
	struct map calls;      /* site id of the flush → struct call */
	struct map same;       /* pair of sites → do they belong to one statement? */
	struct map callers;    /* flush and store → does one function lead to both? */
	struct arena arena;
};

void passing_release(struct passing *p);

/* Gives the call of a flush. store: a store that the flush is for. Valid as long as p. */
const struct call *passing_call(struct passing *p, const struct trace_site *flush,
				const struct trace_site *store);
/* Did the function that makes the flush's call also make the store, or call what did? */
bool passing_is_callers(struct passing *p, const struct trace_site *flush,
			const struct trace_site *store);
/* Do the source lines give the call the same address and length as the copy that stores? */
bool passing_is_same_range(struct passing *p, const struct trace_site *flush,
			   const struct trace_site *store);
bool passing_same_statement(struct passing *p, const struct trace_site *a,
			    const struct trace_site *b);

#endif
