/* Finds out, for --old-bytes, whether recovery fails only because allocated memory was not zero. */
#ifndef CRASH_ZEROS_H
#define CRASH_ZEROS_H

#include "crash/findings/exploration.h"
#include "crash/search/surroundings.h"

/* To be called when recovery fails on the state at the end of the walk. (All stores are written
 * into the image.) True if recovery copes with the same state when old bytes that are still there
 * are zero. Then *allocation is the event of the allocation without whose zeros recovery fails. */
bool zeros_are_relied_on(struct walk *w, struct runner *runner, const struct recovery *recovery,
			 struct crash_store *allocation);

#endif
