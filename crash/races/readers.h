/* Whose code a read of recovery is: by the objects of the recovery program, without symbols. */
#ifndef CRASH_RACES_READERS_H
#define CRASH_RACES_READERS_H

#include "crash/run/runner.h"

/* PMDK reads of its own accord: the innermost frame outside the C library is in a libpmem… */
bool reader_is_pmdk(const struct runner *r, const struct runner_command *c,
		    const struct run_decision *d);
/* The reading instruction is the C library's: a string function copies or compares. */
bool reader_is_libc(const struct runner *r, const struct runner_command *c,
		    const struct run_decision *d);
/* The innermost address outside system libraries and PMDK; else the reading instruction. */
uint64_t reader_pc(const struct runner *r, const struct runner_command *c,
		   const struct run_decision *d);

#endif
