/* Recovery's reads of memory that an allocator handed out with undefined content, and that was never stored to before the crash. If it is zero,
 * that is luck. Copies do not count: they move data that nobody looks at. */
#ifndef CRASH_RACES_UNINITIALISED_H
#define CRASH_RACES_UNINITIALISED_H

#include "crash/races/race.h"

struct uninitialised;
struct uninitialised *uninitialised_new(const struct race_options *o);
void uninitialised_free(struct uninitialised *u);
/* Before the runs of a failure point: watches it. Call states_sort() after it. */
void uninitialised_begin_point(struct explorer *e);
void uninitialised_note(struct uninitialised *u, const struct explorer *e, const struct run_decision *d, enum recovery_part part,
			bool is_porting, const struct verdict *v);
size_t uninitialised_n(const struct uninitialised *u);
const struct race *uninitialised_at(const struct uninitialised *u, size_t i);

/* Adds those that were seen at this failure point; they are again. */
void uninitialised_seen(const struct uninitialised *s, uint64_t point, seen_list *list);
void uninitialised_see(struct uninitialised *s, uint64_t point, const seen_list *list);

#endif
