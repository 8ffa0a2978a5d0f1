/* Finds out whether a failure depends on a file beside the pool, which crash states do not include.
 * The failing state is run with the file absent, as before the recording, as at the crash, and as
 * at the end. */
#ifndef CRASH_SEARCH_BESIDE_TRIAL_H
#define CRASH_SEARCH_BESIDE_TRIAL_H

#include "crash/search/explain.h"
#include "crash/states/beside.h"

/* Tries the state of bug b. If the failure depends on such a file, or if that could not be tried, b
 * gets undecided_by and why_undecided. -1 if recovery cannot be run at all. */
int beside_trial(struct explorer *e, const struct beside *files, const uint64_t *state,
		 struct crash_bug *b, struct error *err);

#endif
