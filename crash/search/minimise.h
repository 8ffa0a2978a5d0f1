/* From a state that recovery does not cope with to the smallest loss that does the same. */
#ifndef CRASH_SEARCH_MINIMISE_H
#define CRASH_SEARCH_MINIMISE_H

#include "crash/search/explorer.h"

/* Unstable: the state does not fail again. Limited: only because of a limit of ours, which the
 * explorer's why_impossible names. Late: to see that would take too long. */
enum minimise_end {
	MINIMISE_DONE,
	MINIMISE_UNSTABLE,
	MINIMISE_LIMITED,
	MINIMISE_LATE,
	MINIMISE_ERROR
};

/* States that fail alike, of one run: the smallest loss; the same loss with as few survivors as the
 * run allows, since what recovery did not read need not have survived; and of the smallest loss
 * only the lines without which recovery copes (others are lost because recovery fails in another
 * way when they return), which need not fail. */
struct minimised {
	uint64_t *state, *few, *cause;
	bool has_gaps; /* a line shows a later store without an earlier one, and has to */
};
void minimised_release(struct minimised *m);
/* A run that fails stands for the states `left`. Puts lines back to their newest content as long as
 * recovery fails as it did. */
enum minimise_end minimise(struct explorer *e, const uint64_t *left, struct minimised *m,
			   const struct verdict *v, struct error *err);

/* The line shows a later store without an earlier one. */
bool minimise_is_gap(const struct explorer *e, const struct state_line *l, const uint64_t *state);

/* Loses more: of the lines with nothing lost, all that can be lost without curing the failure. What
 * survives then is what matters. */
enum minimise_end minimise_survivors(struct explorer *e, uint64_t *state, const struct verdict *v,
				     struct error *err);

#endif
