/* What the call of a flush passes, and whether two stores are of one statement. By stacks, debug
 * information and the lines of the source. */
#ifndef ACCOUNT_CAUSES_PASSED_H
#define ACCOUNT_CAUSES_PASSED_H

#include "report/bug.h"
#include "source/locate.h"
#include "source/call_arguments.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/map.h"

/* What a flush's call passes. Of one site, the same each time. */
struct call {
	enum call_takes takes;
	enum call_given given;
	uint64_t bytes; /* of the object that is given; 0: not known */
	size_t helper,
		from; /* frames: the function that takes the length, and the one that passes it */
	uint64_t helper_key,
		from_key; /* the lines of the source there, however they were reached */
	bool is_library;  /* the helper is one's: it is right */
};

struct passing {
	struct locator *locator;
	struct report *report; /* knows where sources are */
	struct map calls;      /* struct call, by id of the flush's site */
	struct map same;       /* pairs of sites: are they of one statement? */
	struct map callers;    /* a flush and a store: does one function lead to both? */
	struct arena arena;
};

void passing_release(struct passing *p);

/* store: one that the flush is for. Lives as long as p. */
const struct call *passing_call(struct passing *p, const struct trace_site *flush,
				const struct trace_site *store);
/* The function that makes the call of the flush also made the store, or called what did. */
bool passing_is_callers(struct passing *p, const struct trace_site *flush,
			const struct trace_site *store);
/* By their lines of the source, the call is given what the store's line copies: the same address
 * and length. */
bool passing_is_same_range(struct passing *p, const struct trace_site *flush,
			   const struct trace_site *store);
bool passing_same_statement(struct passing *p, const struct trace_site *a,
			    const struct trace_site *b);

#endif
