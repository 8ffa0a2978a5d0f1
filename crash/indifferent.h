/* Finds out whether it matters to recovery that a crash loses the stores of some places, by running
 * it on pairs of states. */
#ifndef CRASH_INDIFFERENT_H
#define CRASH_INDIFFERENT_H

#include "crash/findings/exploration.h"

enum indifference {
	INDIFFERENT_UNKNOWN, /* too many pairs, or runs that do not count */
	/* recovery succeeds on both states of each pair, and prints the same */
	INDIFFERENT_YES,
	INDIFFERENT_NO,
};

/* Goes to every failure point where a store of these sites may be lost. Runs recovery there twice:
 * with nothing lost, and with only the word of that store old. *answer: does recovery end alike
 * both times? */
int indifferent_ask(const struct plan *p, const struct crash_options *o, const uint32_t *sites,
		    size_t nsites, enum indifference *answer, struct error *err);

#endif
