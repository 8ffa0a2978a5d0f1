/* Says whose code does a read of recovery, by the objects of the recovery program, without
 * symbols. */
#ifndef CRASH_RACES_READERS_H
#define CRASH_RACES_READERS_H

#include "crash/run/runner.h"

/* Does PMDK read for itself? Then the innermost frame outside the C library is in a libpmem…
 * library. */
bool reader_is_pmdk(const struct runner *r, const struct runner_command *c,
		    const struct run_decision *d);
/* Is the reading instruction in the C library? Then a string function copies or compares. */
bool reader_is_libc(const struct runner *r, const struct runner_command *c,
		    const struct run_decision *d);
/* Gives the innermost address outside system libraries and PMDK; if there is none, the reading
 * instruction. */
uint64_t reader_pc(const struct runner *r, const struct runner_command *c,
		   const struct run_decision *d);

#endif
