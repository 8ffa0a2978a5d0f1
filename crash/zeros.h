/* --old-bytes: does recovery fail only because memory that the program was handed was not zero? */
#ifndef CRASH_ZEROS_H
#define CRASH_ZEROS_H

#include "crash/findings/exploration.h"
#include "crash/search/surroundings.h"

/* Recovery fails on the state at the end of the walk. (All that was stored is put into its image.)
 * True: it copes with the same state if old bytes that are still there are zero. Then *allocation
 * is the event that handed out memory without whose zeros it fails. */
bool zeros_are_relied_on(struct walk *w, struct runner *runner, const struct recovery *recovery,
			 struct crash_store *allocation);

#endif
