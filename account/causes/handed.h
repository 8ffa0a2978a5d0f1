/* Flushes that seem to cover less than they were given: by a helper that never advances, or that
 * steps from the middle of a line, or by a call with the wrong length. A trace does not have the
 * arguments of calls. It shows which addresses a call flushed, and which lines the thread had
 * stored to. That is enough to propose a cause; a trial decides. */
#ifndef ACCOUNT_CAUSES_HANDED_H
#define ACCOUNT_CAUSES_HANDED_H

#include "crash/states/whatif.h"
#include "report/bug.h"
#include "source/locate.h"
#include "trace/trace.h"
#include "util/vec.h"

enum handed_how {
	HANDED_STUCK,  /* one instruction flushes one address several times, and never advances */
	HANDED_STEPS,  /* it steps from an address inside a line, and not to where the range ends */
	HANDED_HELPER, /* it is given an object, and leaves out lines of it */
	HANDED_CALLS,  /* several calls of it are short, all in the same way: by HANDED_CALL */
	HANDED_CALL,   /* a statement stores to several lines, and a call flushes only the first
			  ones, although it passes a length */
	HANDED_SIZE,   /* f(x, sizeof(x)), and x is a pointer to more */
};

struct handed {
	enum handed_how how;
	const struct trace_site *flush; /* of the first time */
	const struct trace_site *store; /* one that it left out */
	uint64_t key;                   /* of the line of the source that is to blame */
	bool is_certain;                /* some line is not only guessed by its neighbours */
	size_t shown; /* the frame of the flush that is to blame; SIZE_MAX: as shown anyway */
	uint64_t first_seq, count;      /* event of the flush; how often it was short */
	VEC(struct whatif_flush) lines; /* that it left out, in order: the cure */
	VEC(uint32_t) stores;           /* ids of the sites that stored there */
};

typedef VEC(struct handed) handed_list;

/* Two passes over the trace. r: knows where sources are. */
void handed_find(handed_list *out, const struct trace *t, struct locator *l, struct report *r);
void handed_release(handed_list *list);
bool handed_has_store(const struct handed *h, uint32_t site);

#endif
