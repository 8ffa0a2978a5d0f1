/* What a dump may print after a crash: the logical states at the ends of operations, taken from the
 * trace itself with nothing lost. */
#ifndef CRASH_SEARCH_REFERENCES_H
#define CRASH_SEARCH_REFERENCES_H

#include "crash/index/index.h"
#include "crash/search/dump_texts.h"
#include "crash/search/explorer.h"
#include "crash/search/in_flight.h"
#include "crash/states/overlap.h"

struct reference {
	uint64_t seq; /* of the boundary */
	uint64_t hash;
	/* there is no pool, and recovery refuses that: nothing can be compared with it */
	bool is_absent;
};

struct references {
	VEC(struct reference) list;      /* by seq */
	VEC(uint64_t) ended;             /* by operation: when it and all before it had ended */
	struct reference initial, final; /* of the states before and after everything */
	/* recovery copes with the latter; it need not if the program was killed */
	bool has_final;
	struct in_flight in_flight; /* while operations of several threads are under way */
	overlap_list overlaps;      /* of guessed operations */
	bool is_known;
	uint64_t deadline_ns;      /* when to give up, 0: never; the caller sets it */
	bool is_late;              /* that is why they are not known */
	const struct index *index; /* NULL: none; the caller sets it */
	/* what the dumps printed, NULL: not wanted; the caller sets it */
	struct dump_texts *texts;
};

/* Runs recovery and dump on the state at each boundary. With `crashes` (events, sorted), only where
 * references_allow() needs it for a crash before one of these; what is known stays known, so that
 * more can be added later. */
int references_take(struct references *r, const struct plan *p, struct runner *runner,
		    const struct recovery *c, const uint64_t *crashes, size_t ncrashes,
		    struct error *err);
/* For who fills the list, with what is before and after it: what follows from the plan. */
void references_know(struct references *r, const struct plan *p);
void references_release(struct references *r);
/* After a crash before event seq: before and after what is in flight, or what the last operation
 * left. Nothing if it cannot be told, as while the pool is created, if recovery refuses to run
 * without one: what it prints for an empty pool is not known. */
void references_allow(const struct references *r, const struct plan *p, uint64_t seq,
		      struct allowed *out);
/* A crash before event seq is in the middle of guessed operations that overlap: then nothing is
 * allowed, and nothing compared. */
bool references_overlap(const struct references *r, const struct plan *p, uint64_t seq);
/* The same, and takes what is not known yet: for those who look at few crashes. -1: recovery cannot
 * be run. */
int references_allow_at(struct references *r, const struct plan *p, struct runner *runner,
			const struct recovery *c, uint64_t seq, struct allowed *out,
			struct error *err);

#endif
