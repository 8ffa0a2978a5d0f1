/* Reads of recovery that depend on what a crash lost (cross-failure races), and which of them are
 * intended: reads of commit variables, declared or inferred, of checksummed data, and PMDK's own
 * reads. docs/crash.md has the rules. */
#ifndef CRASH_RACES_RACES_H
#define CRASH_RACES_RACES_H

#include "crash/races/race.h"
#include "crash/races/race_turns.h"

struct races;
struct races *races_new(const struct race_options *o, struct race_table *table, uint32_t worker);
void races_free(struct races *r);
/* At each failure point that the walk comes to, whoever explores it. */
void races_pass_point(struct races *r, const struct explorer *e);
/* At that failure point, something may be lost that some place of the program stored, and that was
 * so at few failure points before. */
bool races_is_novel(const struct races *r);
/* Before the runs of a visit of a failure point: what is to be watched. is_again: what was noted
 * here counts. */
void races_begin_point(struct races *r, struct explorer *e, bool is_again);
/* After each lazy run, with its decisions still in the runner. before: the set that it began with;
 * left: what it stands for. */
void races_note_run(struct races *r, struct explorer *e, const uint64_t *before,
		    const uint64_t *left, const struct verdict *v);
/* After the runs of a failure point: judges what was seen, when it is its turn. May run recovery,
 * and changes what the runner has loaded. */
int races_end_point(struct races *r, struct explorer *e, struct error *err);
/* After the runs of a visit that leaves something to do: what must not wait. The same. */
int races_end_visit(struct races *r, struct explorer *e, struct error *err);
/* What was noted at a failure point, between two visits of it. */
struct race_notes;
struct race_notes *races_put_away(struct races *r, uint64_t point);
void races_take_up(struct races *r, uint64_t point, struct race_notes *n); /* takes the notes */
void race_notes_free(struct race_notes *n);                                /* NULL is fine */
size_t races_list(const struct races *r, const struct race **list);
race_turns *races_turns(struct races *r);

#endif
