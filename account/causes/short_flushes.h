/* Finds flushes that seem to cover less than they were given: by a helper that never advances, or
 * that steps from the middle of a line, or by a call with the wrong length. A trace does not
 * contain the arguments of calls. It shows which addresses a call flushed, and to which lines the
 * thread had stored. That is enough to propose a cause; a trial decides. */
#ifndef ACCOUNT_CAUSES_SHORT_FLUSHES_H
#define ACCOUNT_CAUSES_SHORT_FLUSHES_H

#include "crash/states/whatif.h"
#include "report/bug.h"
#include "source/locate.h"
#include "trace/trace.h"
#include "util/vec.h"

enum handed_how {
	HANDED_STUCK, /* a helper flushes one address several times and never advances */
	/* a helper steps from an address inside a line, and does not reach the end of the range */
	HANDED_STEPS,
	HANDED_HELPER, /* a helper is given an object, and leaves out some of its lines */
	/* several calls of a helper are short, all in the same way; made from HANDED_CALL */
	HANDED_CALLS,
	/* a statement stores to several lines, and a call with a length flushes only the first
	 * ones */
	HANDED_CALL,
	HANDED_SIZE, /* f(x, sizeof(x)), where x is a pointer to something larger */
};

struct handed {
	enum handed_how how;
	const struct trace_site *flush; /* of the first time */
	const struct trace_site *store; /* a store that it left out */
	uint64_t key;                   /* of the source line that is to blame */
	/* for some line, there is more evidence than its neighbours */
	bool is_certain;
	/* the frame of the flush that is to blame; SIZE_MAX: the frame that is shown anyway */
	size_t shown;
	uint64_t first_seq, count;      /* event of the flush; how often it was short */
	VEC(struct whatif_flush) lines; /* the lines that it left out, in order: the cure */
	VEC(uint32_t) stores;           /* ids of the sites that stored there */
};

typedef VEC(struct handed) handed_list;

/* Finds all proposals in two passes over the trace. r knows where sources are. */
void handed_find(handed_list *out, const struct trace *t, struct locator *l, struct report *r);
void handed_release(handed_list *list);
bool handed_has_store(const struct handed *h, uint32_t site);

#endif
