/* Which stores of a trace are special for races: those to commit variables of --commit-var, and
 * those of PMDK. */
#ifndef CRASH_SETUP_RACE_SITES_H
#define CRASH_SETUP_RACE_SITES_H

#include "crash/crash.h"
#include "util/values.h"
#include "trace/owner.h"

/* Stores at these places (FILE:LINE, or a function) write commit variables. -1 if nothing is stored
 * at one. */
int race_sites_find_commits(struct race_options *o, const struct word_list *places,
			    const struct libraries *libraries, struct plan *p, struct error *err);
/* Stores of libpmemobj's own, and of constructors that it calls. */
void race_sites_find_library(struct race_options *o, const struct plan *p);
/* Stores inside a transaction to what was not added to it. */
void race_sites_find_unlogged(struct race_options *o, const struct plan *p);

#endif
