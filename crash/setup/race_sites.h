/* Finds the stores of a trace that are special for races: those to commit variables of
 * --commit-var, and those of PMDK. */
#ifndef CRASH_SETUP_RACE_SITES_H
#define CRASH_SETUP_RACE_SITES_H

#include "crash/crash.h"
#include "util/values.h"
#include "trace/owner.h"

/* Marks the stores at these places (FILE:LINE, or a function) as writes of commit variables. -1 if
 * a place has no store. */
int race_sites_find_commits(struct race_options *o, const struct word_list *places,
			    const struct libraries *libraries, struct plan *p, struct error *err);
/* Marks libpmemobj's own stores, and those of constructors that it calls. */
void race_sites_find_library(struct race_options *o, const struct plan *p);
/* Lists stores inside a transaction to memory that was not added to it. */
void race_sites_find_unlogged(struct race_options *o, const struct plan *p);

#endif
