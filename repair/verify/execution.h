/* Counts what a trace recorded, and computes a signature by which equal executions are
 * recognised. */
#ifndef REPAIR_VERIFY_EXECUTION_H
#define REPAIR_VERIFY_EXECUTION_H

#include <stdint.h>

#include "util/error.h"

struct execution {
	uint64_t nlogged_bytes, nflushes, nfences, ninstructions;
	/* A hash of what was done to persistent memory and in which order. Two recordings of one
	 * execution have the same, wherever their files were. */
	uint64_t signature;
};

int execution_read(struct execution *e, const char *trace, struct error *err);

#endif
