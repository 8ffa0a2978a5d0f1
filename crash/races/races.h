/* Reads of recovery that depend on what a crash lost (cross-failure races), and which of them are meant so: reads of commit variables,
 * declared or inferred, of checksummed data, and those that PMDK does on its own. docs/crash.md has the rules. */
#ifndef CRASH_RACES_RACES_H
#define CRASH_RACES_RACES_H

#include "crash/races/race.h"

struct races;
struct races *races_new(const struct race_options *o, struct race_table *table, uint32_t worker);
void races_free(struct races *r);
/* At each failure point that the walk comes to, whoever explores it. */
void races_pass_point(struct races *r, const struct explorer *e);
/* Before the runs of a failure point: what is to be watched. */
void races_begin_point(struct races *r, struct explorer *e);
/* After each lazy run, with its decisions still in the runner. before: the set that it began with; left: what it stands for. */
void races_note_run(struct races *r, struct explorer *e, const uint64_t *before, const uint64_t *left, const struct verdict *v);
/* After the runs of a failure point: judges what was seen, when it is its turn. May run recovery, and changes what the runner has loaded. */
int races_end_point(struct races *r, struct explorer *e, struct error *err);
size_t races_list(const struct races *r, const struct race **list);

#endif
