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
	bool is_barrier; /* barriers are its cure so far */
	/* with both flush and fence, since only the missing one is not enough everywhere */
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
	struct runner_command *replay; /* owns the words to which `setup` points */
	char **argv;                   /* the words in the order that the option parser needs */
	const char *trace;
	struct plan *plan;
	struct call_paths places;
	struct point_judge judge;
	struct cure_points points; /* the failure points of the unchanged trace */
	struct whatif whatif;
	bool has_checked; /* the barriers include those for bugs that the execution alone shows */
	VEC(struct repair_place *) lists; /* owned */
	VEC(struct candidate) candidates;
	VEC(char *) texts; /* owned */
	uint64_t start_ns;
};

/* candidates.c: lists the bugs for which a cure can be tried */
void cures_list(struct cures *c);
const char *cures_keep(struct cures *c, char *text); /* Takes over a text to which bugs point. */
/* Says why nothing fixes the bug; takes over the text. */
void cures_decline(struct cures *c, size_t bug, char *why);

/* Tells that a cure failed, if the user wants to know; `what` names it. */
void cures_tell_failure(const struct cures *c, size_t bug, const char *what);

/* Tries the bugs with an order inside macros: the stores of one macro are told apart, and an
 * earlier one becomes durable before a later one. 1: that alone fixes all bugs. 0: nothing is
 * decided. -1: nothing can be tried. */
int cures_try_macros(struct cures *c, struct error *err);
/* Tries barriers (flushes and fences) for all bugs. -1: nothing can be tried. */
int cures_try_barriers(struct cures *c, struct error *err);
/* After all cures are found: tries fences just before the store that survived. */
void cures_try_late_fences(struct cures *c);
/* Tries transactions for the bugs that no barrier fixes. -1: nothing can be tried. */
int cures_try_transactions(struct cures *c, struct error *err);

#endif
