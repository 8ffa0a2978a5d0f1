/* Conclusions about races, turn by turn: a turn is one failure point in one round. A conclusion
 * depends on what was known before. A shard does not know what others found at earlier failure
 * points, so it can only suppose that. When all shards are together, their turns are checked in the
 * order of a single process: a turn that supposed right counts, the others are concluded again. */
#ifndef CRASH_RACES_RACE_TURNS_H
#define CRASH_RACES_RACE_TURNS_H

#include "crash/races/race_table.h"
#include "util/error.h"

struct race_change {
	struct race_entry before, after;
};

struct race_turn {
	uint64_t round, point;
	/* one more answer about one entry, which does not depend on what was known; otherwise
	 * conclusions that depend on each other */
	bool is_question;
	VEC(struct race_change) changes; /* includes entries that did not change */
};

typedef VEC(struct race_turn) race_turns;
void race_turns_release(race_turns *t);
/* Adds a turn, which the caller fills. */
struct race_turn *race_turns_add(race_turns *t, uint64_t round, uint64_t point, bool is_question);

/* Checks all turns; at the end, the table is as after a single process. again: concludes at this
 * failure point with the present table. */
int race_turns_replay(race_turns *t, struct race_table *table,
		      int (*again)(uint64_t point, void *arg, struct error *err), void *arg,
		      struct error *err);

/* Fills an empty table with the conclusions of all rounds before this one, before workers start.
 * All of them are supposed to be right. */
void race_turns_suppose(race_turns *t, uint64_t round, struct race_table *table);

#endif
