/* What one shard of an exploration found, so that it can be kept, gone on with, and put together
 * with the others. */
#ifndef CRASH_PART_H
#define CRASH_PART_H

#include "crash/findings/exploration.h"
#include "util/wire.h"

/* Sends all that others need of a result, or fills an empty one. */
void part_pass(struct wire *m, struct crash_result *r);
/* Whether all numbers in it that choose something are of this trace, and all texts are there:
 * nobody looks at them later. npoints is taken on trust. */
bool part_is_sound(const struct crash_result *r, const struct plan *p);
/* Adds what another shard, or an earlier run of this one, found. Takes it. */
void part_add(struct crash_result *r, struct crash_result *part);

#endif
