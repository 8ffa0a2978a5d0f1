/* Makes a number that a preloaded function found out about a word, its length or its value, a
 * symbol of its own. The word's bytes alone cannot give another length, because where the word ends
 * was decided earlier. */
#ifndef TRACER_MEASURED_H
#define TRACER_MEASURED_H

#include <stdint.h>

#include "pmpath.h"
#include "valgrind.h"

static inline uint64_t measured(enum pmp_word kind, const char *word, uint64_t nbytes,
				uint64_t value)
{
	volatile uint64_t kept = value;

	VALGRIND_DO_CLIENT_REQUEST_STMT(PMP_REQ_WORD, kind, word, nbytes, &kept, 0);
	return kept;
}

#endif
