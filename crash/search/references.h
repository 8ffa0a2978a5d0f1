/* Finds out what a dump may print after a crash: the logical states at the ends of operations. They
 * come from the trace itself, with nothing lost. */
#ifndef CRASH_SEARCH_REFERENCES_H
#define CRASH_SEARCH_REFERENCES_H

#include "crash/index/index.h"
#include "crash/search/dump_texts.h"
#include "crash/search/explorer.h"
#include "crash/search/in_flight.h"
#include "crash/states/overlap.h"

struct reference {
	uint64_t seq; /* the boundary */
	uint64_t hash;
	/* there is no pool and recovery refuses to run, so nothing can be compared with this */
	bool is_absent;
};

struct references {
	VEC(struct reference) list; /* ascending seq */
	/* by operation: the event at which it and all earlier ones had ended */
	VEC(uint64_t) ended;
	struct reference initial, final; /* before the first event and after the last */
	/* recovery copes with the final state; it need not if the program was killed */
	bool has_final;
	/* for crashes while operations of several threads overlap */
	struct in_flight in_flight;
	overlap_list overlaps; /* about guessed operations */
	bool is_known;
	uint64_t deadline_ns;      /* when to give up, 0: never; set by the caller */
	bool is_late;              /* the deadline was reached, so not all references are known */
	const struct index *index; /* NULL: none; set by the caller */
	/* the events of all failure points, for a caller that takes all references; set by the
	 * caller, ascending */
	const uint64_t *points;
	size_t npoints;
	/* what was acknowledged may be lost until a sync is (--buffered); references_take() sets
	 * it */
	bool is_buffered;
	/* outcomes of operations that overlap are built; otherwise nothing is allowed there */
	bool is_building;
	/* gets what the dumps printed, NULL: not wanted; set by the caller */
	struct dump_texts *texts;
};

/* Runs recovery and dump on the state at each boundary. With `crashes` (ascending events), only at
 * boundaries that references_allow() needs for a crash before one of them. Known references stay,
 * so more can be added later. */
int references_take(struct references *r, const struct plan *p, struct runner *runner,
		    const struct recovery *c, const uint64_t *crashes, size_t ncrashes,
		    struct error *err);
/* Computes what follows from the plan: which operations overlap, and when all operations up to one
 * had ended. It is for a caller that fills r->list, r->initial and r->final itself. */
void references_know(struct references *r, const struct plan *p);
void references_release(struct references *r);
/* Fills the dumps that are allowed after a crash before event seq: before and after the operation
 * in flight, or after the last operation; if operations of several threads overlap, what
 * in_flight.h says. With --buffered, also what was allowed at any moment since the last sync that
 * was acknowledged began. Nothing is filled if that is unknown: for example while
 * the pool is created, if recovery refuses to run without one, because then nobody knows what it
 * prints for an empty pool. */
void references_allow(const struct references *r, const struct plan *p, uint64_t seq,
		      struct allowed *out);
/* Is a crash before event seq inside guessed operations that overlap? Then nothing is allowed and
 * nothing compared. */
bool references_overlap(const struct references *r, const struct plan *p, uint64_t seq);
/* Like references_allow(), but takes references that are missing; for callers with few crashes. -1
 * if recovery cannot be run. */
int references_allow_at(struct references *r, const struct plan *p, struct runner *runner,
			const struct recovery *c, uint64_t seq, struct allowed *out,
			struct error *err);

#endif
