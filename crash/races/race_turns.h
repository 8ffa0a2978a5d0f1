/* What was concluded about races, turn by turn: at one failure point, in one round. What is
 * concluded depends on what was known before, so a shard, which does not know what others found at
 * earlier failure points, can only suppose it. When all shards are together, their turns are gone
 * over in the order of one process: one that supposed right counts, one that was wrong is done
 * again. */
#ifndef CRASH_RACES_RACE_TURNS_H
#define CRASH_RACES_RACE_TURNS_H

#include "crash/races/race_table.h"
#include "util/error.h"

struct race_change {
	struct race_entry before, after;
};

struct race_turn {
	uint64_t round, point;
	/* one more answer about one entry, whatever was known of it; else conclusions that depend
	 * on each other */
	bool is_question;
	VEC(struct race_change) changes; /* also where nothing changed */
};

typedef VEC(struct race_turn) race_turns;
void race_turns_release(race_turns *t);
/* One more turn; fill it. */
struct race_turn *race_turns_add(race_turns *t, uint64_t round, uint64_t point, bool is_question);

/* Goes over all of them; the table ends as that of one process. again: concludes at this failure
 * point with what the table says now. */
int race_turns_replay(race_turns *t, struct race_table *table,
		      int (*again)(uint64_t point, void *arg, struct error *err), void *arg,
		      struct error *err);

/* Before there are workers: the table knows what the turns of all rounds before this one came to,
 * and nothing else. Each is supposed to be right. */
void race_turns_suppose(race_turns *t, uint64_t round, struct race_table *table);

#endif
