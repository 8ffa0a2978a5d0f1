/* Tests what recovery does with a value that is neither the old nor the new one. No crash can leave
 * it, so it is never reported; it only tests recovery. A checksum rejects any wrong value; a sum
 * that happens to match does not. A value that nobody uses may be anything. */
#ifndef CRASH_RACES_PERTURB_H
#define CRASH_RACES_PERTURB_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

enum perturbation {
	PERTURB_A_LITTLE, /* a value that would still be valid as a length or an index */
	PERTURB_MUCH,     /* a value that would not */
};

/* Runs recovery on a state of a loaded set, but with a changed value in a word of one of its lines:
 * the oldest value with some bits inverted. The set is restored afterwards. */
int perturb(struct explorer *e, struct state_set *set, const uint64_t *state,
	    const struct suspect *word, enum perturbation how, struct verdict *v,
	    struct error *err);

#endif
