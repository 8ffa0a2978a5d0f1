/* Finds recovery's reads of memory that an allocator gave out with undefined content and that was
 * never stored to before the crash. If it is zero, that is luck. Copies do not count, because they
 * only move data. Reads whose value is not used do not count, either. */
#ifndef CRASH_RACES_UNINITIALISED_H
#define CRASH_RACES_UNINITIALISED_H

#include "crash/races/race.h"

struct uninitialised;
struct uninitialised *uninitialised_new(const struct race_options *o);
void uninitialised_free(struct uninitialised *u);
/* Watches memory with undefined content at a failure point, before its runs. Call states_sort()
 * afterwards. */
void uninitialised_begin_point(struct uninitialised *u, struct explorer *e);
void uninitialised_note(struct uninitialised *u, const struct explorer *e,
			const struct run_decision *d, enum recovery_part part, bool is_porting,
			const struct verdict *v);
/* Ends the notes of a run. left: the states for which the run stands. */
void uninitialised_end_run(struct uninitialised *u, const struct explorer *e, const uint64_t *left);
/* Tries what the runs of a visit read. Changes what the runner has loaded. */
int uninitialised_end_visit(struct uninitialised *u, struct explorer *e, struct error *err);
/* Ends the search: what was not tried stays untried. The states are BUG, UNTRIED and HARMLESS;
 * `values` of a bug says what shows it. */
size_t uninitialised_n(struct uninitialised *u);
const struct race *uninitialised_at(const struct uninitialised *u, size_t i);

/* Adds the findings seen at this failure point to the list; they will be seen again. */
void uninitialised_seen(const struct uninitialised *s, uint64_t point, seen_list *list);
void uninitialised_see(struct uninitialised *s, uint64_t point, const seen_list *list);

#endif
