/* Finds reads of recovery that depend on what a crash lost (cross-failure races), and which of them
 * are intended: reads of commit variables, declared or inferred, of data with a checksum, and
 * PMDK's own reads. docs/crash.md has the rules. */
#ifndef CRASH_RACES_RACES_H
#define CRASH_RACES_RACES_H

#include "crash/races/race.h"
#include "crash/races/race_turns.h"

struct races;
struct races *races_new(const struct race_options *o, struct race_table *table, uint32_t worker);
void races_free(struct races *r);
/* Notes each failure point that the walk reaches, whoever explores it. */
void races_pass_point(struct races *r, const struct explorer *e);
/* Can something be lost at that failure point whose place was counted at few failure points
 * before? */
bool races_is_novel(const struct races *r);
/* Prepares the runs of a visit: says what is watched. is_again: what was noted here before
 * counts. */
void races_begin_point(struct races *r, struct explorer *e, bool is_again);
/* Notes a lazy run while its decisions are in the runner. before: the set with which it began;
 * left: the states for which it stands. */
void races_note_run(struct races *r, struct explorer *e, const uint64_t *before,
		    const uint64_t *left, const struct verdict *v);
/* Judges the races of a failure point after its runs, when it is its turn. May run recovery, and
 * changes what the runner has loaded. */
int races_end_point(struct races *r, struct explorer *e, struct error *err);
/* Judges, after the runs of a visit that leaves work to do, only the findings that must not
 * wait. */
int races_end_visit(struct races *r, struct explorer *e, struct error *err);
/* What was noted at a failure point, between two visits. */
struct race_notes;
struct race_notes *races_put_away(struct races *r, uint64_t point);
/* Restores the notes of a failure point that is visited again; they belong to r then. */
void races_take_up(struct races *r, uint64_t point, struct race_notes *n);
void race_notes_free(struct race_notes *n); /* NULL is allowed */
size_t races_list(const struct races *r, const struct race **list);
race_turns *races_turns(struct races *r);

#endif
