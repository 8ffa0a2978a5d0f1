/* What does recovery do with a value that is neither the old nor the new one? No crash can leave
 * it: it only tests recovery, and is never reported. A checksum rejects any wrong value; a sum that
 * happens to be the same does not. A value that nobody uses may be anything. */
#ifndef CRASH_RACES_PERTURB_H
#define CRASH_RACES_PERTURB_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

enum perturbation {
	PERTURB_A_LITTLE, /* something that would still do as a length or an index */
	PERTURB_MUCH,     /* something that would not */
};

/* Runs recovery on a state of a set that is loaded, but for a word of a line that is in it, which
 * gets its oldest value, changed. The set is as before afterwards. */
int perturb(struct explorer *e, struct state_set *set, const uint64_t *state,
	    const struct suspect *word, enum perturbation how, struct verdict *v,
	    struct error *err);

#endif
