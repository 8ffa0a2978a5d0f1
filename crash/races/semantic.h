/* Finds reads of recovery that its commit variables forbid (cross-failure semantic bugs): of bytes
 * that were stored after the commit write whose value survives in the run, or before the commit
 * write before that. docs/crash.md has the rules. */
#ifndef CRASH_RACES_SEMANTIC_H
#define CRASH_RACES_SEMANTIC_H

#include "crash/races/race.h"
#include "crash/races/race_turns.h"

struct semantics;
/* Makes the state for judging reads by commit variables. turns: gets the conclusions of each
 * failure point; NULL: not wanted. */
struct semantics *semantics_new(const struct race_options *o, struct race_table *table,
				uint32_t worker, race_turns *turns);
void semantics_free(struct semantics *s);
/* Watches what can be inconsistent at a failure point, before its runs. Call states_sort()
 * afterwards. */
void semantics_begin_point(struct semantics *s, struct explorer *e);
/* Judges a decision of a run. left: the states for which the run stands. */
void semantics_note(struct semantics *s, struct explorer *e, const uint64_t *left,
		    const struct run_decision *d, enum recovery_part part, bool is_porting,
		    const struct verdict *v);
/* Asks the open questions after the runs of a failure point. May run recovery, and changes what the
 * runner has loaded. */
int semantics_end_point(struct semantics *s, struct explorer *e, struct error *err);
size_t semantics_n(const struct semantics *s);
const struct race *semantics_at(const struct semantics *s, size_t i);

/* Adds the findings seen at this failure point to the list; they will be seen again. */
void semantics_seen(const struct semantics *s, uint64_t point, seen_list *list);
void semantics_see(struct semantics *s, uint64_t point, const seen_list *list);

#endif
