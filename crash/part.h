/* Sends, checks and adds up the results of the shards of an exploration, so that they can be saved,
 * continued and put together. */
#ifndef CRASH_PART_H
#define CRASH_PART_H

#include "crash/findings/exploration.h"
#include "util/wire.h"

/* Sends all that other processes need of a result, or receives it into an empty result. */
void part_pass(struct wire *m, struct crash_result *r);
/* Are all numbers in the result that select something valid for this trace, and are all texts
 * there? Nobody checks them later. npoints is not checked. */
bool part_is_sound(const struct crash_result *r, const struct plan *p);
/* Adds the result of another shard, or of an earlier run of this one. The part's memory now belongs
 * to r. */
void part_add(struct crash_result *r, struct crash_result *part);

#endif
