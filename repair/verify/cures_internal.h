/* What the files that look for cures share. */
#ifndef REPAIR_VERIFY_CURES_INTERNAL_H
#define REPAIR_VERIFY_CURES_INTERNAL_H

#include "repair/verify/call_paths.h"
#include "repair/verify/cures.h"
#include "repair/verify/point_judge.h"

/* One bug that a crash shows. */
struct candidate {
	size_t bug;
	uint64_t seq; /* the crash comes before this event */
	struct cure_window window;
	bool is_barrier; /* by now */
	/* with flush and fence, as what was missing where it failed is not enough elsewhere */
	bool is_full;
	bool is_late; /* its fences come just before the store that survived */
	bool is_done;
};

struct cures {
	const struct report *report;
	const struct crash_reader *reader;
	const struct notes *notes;
	const struct cure_options *options;
	struct repair_bug **bugs;
	struct crash_setup setup;
	struct runner_command *replay; /* owns the words that setup points to */
	char **argv;                   /* the words, in the order that the crash reader likes */
	const char *trace;
	struct plan *plan;
	struct call_paths places;
	struct point_judge judge;
	struct cure_points points; /* of the trace as it is */
	struct whatif whatif;
	bool has_checked; /* barriers for what the execution alone shows are supposed, too */
	VEC(struct repair_place *) lists; /* owned */
	VEC(struct candidate) candidates;
	VEC(char *) texts; /* owned */
	uint64_t start_ns;
};

/* candidates.c */
void cures_list(struct cures *c);
const char *cures_keep(struct cures *c, char *text); /* takes a text that bugs point to */
/* takes the text: why nothing mends the bug */
void cures_decline(struct cures *c, size_t bug, char *why);

/* Tells a cure that was tried and failed, if that is wanted; what: words for it. */
void cures_tell_failure(const struct cures *c, size_t bug, const char *what);

/* An order that macros miss, with their stores told apart. 1: that alone mends all bugs. 0: nothing
 * is settled. -1 if nothing can be tried. */
int cures_try_macros(struct cures *c, struct error *err);
/* -1 if nothing can be tried. */
int cures_try_barriers(struct cures *c, struct error *err);
/* Once all is settled: may fences wait until just before the store that survived? */
void cures_try_late_fences(struct cures *c);
/* For those that no barrier mends. */
int cures_try_transactions(struct cures *c, struct error *err);

#endif
