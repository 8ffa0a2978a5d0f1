/* What a trace recorded, in numbers. */
#ifndef REPAIR_VERIFY_EXECUTION_H
#define REPAIR_VERIFY_EXECUTION_H

#include <stdint.h>

#include "util/error.h"

struct execution {
	uint64_t nlogged_bytes, nflushes, nfences, ninstructions;
	/* What was done to persistent memory, in which order: the same for two recordings of one
	 * execution, wherever its files were. */
	uint64_t signature;
};

int execution_read(struct execution *e, const char *trace, struct error *err);

#endif
