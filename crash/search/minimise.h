/* Reduces a failing state to the smallest loss that makes recovery fail in the same way. */
#ifndef CRASH_SEARCH_MINIMISE_H
#define CRASH_SEARCH_MINIMISE_H

#include "crash/search/explorer.h"

/* How minimising ended. Unstable: the state does not fail again. Limited: it fails only because of
 * a limit that pmend sets; explorer.why_impossible names it. Late: it would take too long. */
enum minimise_end {
	MINIMISE_DONE,
	MINIMISE_UNSTABLE,
	MINIMISE_LIMITED,
	MINIMISE_LATE,
	MINIMISE_ERROR
};

/* Three states that come from one failing run. state: the smallest loss. few: the same loss with as
 * few survivors as the run allows, because what recovery did not read need not have survived.
 * cause: of the smallest loss, only the lines without which recovery copes; this state need not
 * fail. (Other lines are lost because recovery fails in another way when they return.) */
struct minimised {
	uint64_t *state, *few, *cause;
	/* a line shows a later store without an earlier one, and the failure needs that */
	bool has_gaps;
};
void minimised_release(struct minimised *m);
/* Minimises a failing run, which stands for the states `left`. Lines get their newest content back
 * as long as recovery fails in the same way. */
enum minimise_end minimise(struct explorer *e, const uint64_t *left, struct minimised *m,
			   const struct verdict *v, struct error *err);

/* Begins an explanation: minimise() and minimise_survivors() share a number of runs. */
void minimise_begin(struct explorer *e);
/* Has the explanation used up its runs? Then states may not be the smallest. */
bool minimise_is_spent(const struct explorer *e);

/* Does the line show a later store without an earlier one? */
bool minimise_is_gap(const struct explorer *e, const struct state_line *l, const uint64_t *state);

/* Loses as much as possible in lines that lose nothing, as long as recovery still fails in the same
 * way. The stores that survive then are needed for the failure. */
enum minimise_end minimise_survivors(struct explorer *e, uint64_t *state, const struct verdict *v,
				     struct error *err);

#endif
