/* Recovery's reads of memory that an allocator handed out with undefined content, and that was
 * never stored to before the crash. If it is zero, that is luck. Copies do not count: they move
 * data that nobody looks at. Nor does what recovery reads and does not use. */
#ifndef CRASH_RACES_UNINITIALISED_H
#define CRASH_RACES_UNINITIALISED_H

#include "crash/races/race.h"

struct uninitialised;
struct uninitialised *uninitialised_new(const struct race_options *o);
void uninitialised_free(struct uninitialised *u);
/* Before the runs of a failure point: watches it. Call states_sort() after it. */
void uninitialised_begin_point(struct uninitialised *u, struct explorer *e);
void uninitialised_note(struct uninitialised *u, const struct explorer *e,
			const struct run_decision *d, enum recovery_part part, bool is_porting,
			const struct verdict *v);
/* left: what the run stands for */
void uninitialised_end_run(struct uninitialised *u, const struct explorer *e, const uint64_t *left);
/* After the runs of a visit: tries what they read. Changes what the runner has loaded. */
int uninitialised_end_visit(struct uninitialised *u, struct explorer *e, struct error *err);
/* In the end: what is left to be tried will not be. States: BUG, UNTRIED, HARMLESS; `values` of a
 * bug says what shows it. */
size_t uninitialised_n(struct uninitialised *u);
const struct race *uninitialised_at(const struct uninitialised *u, size_t i);

/* Adds those that were seen at this failure point; they are again. */
void uninitialised_seen(const struct uninitialised *s, uint64_t point, seen_list *list);
void uninitialised_see(struct uninitialised *s, uint64_t point, const seen_list *list);

#endif
