/* Whether it matters to recovery that a crash loses the stores of some places, tried in pairs of
 * states. */
#ifndef CRASH_INDIFFERENT_H
#define CRASH_INDIFFERENT_H

#include "crash/findings/exploration.h"

enum indifference {
	INDIFFERENT_UNKNOWN, /* too many pairs, or runs that do not count */
	/* recovery succeeds and ends in the same way each time, and prints the same */
	INDIFFERENT_YES,
	INDIFFERENT_NO,
};

/* At every failure point where a store of these sites may be lost: runs recovery with nothing lost,
 * and with that word old and everything else as new as can be then. */
int indifferent_ask(const struct plan *p, const struct crash_options *o, const uint32_t *sites,
		    size_t nsites, enum indifference *answer, struct error *err);

#endif
