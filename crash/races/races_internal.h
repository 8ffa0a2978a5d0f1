/* Declares what the files of races share: races.c collects them, race_conclude.c draws conclusions
 * after the runs of a failure point. */
#ifndef CRASH_RACES_RACES_INTERNAL_H
#define CRASH_RACES_RACES_INTERNAL_H

#include "crash/races/infer.h"
#include "crash/races/races.h"
#include "crash/races/novelty.h"
#include "crash/races/race_turns.h"

struct known_race {
	struct race race;
	struct suspect suspect;
	uint64_t seen_at;         /* failure point */
	struct race_entry *known; /* NULL: nothing yet; changed only in turn */
	bool is_asked_for;        /* --strict: reported in any case */
	bool is_refuted;          /* at the present failure point it is no commit variable */
};

/* Bytes that a run of this failure point raced for. */
struct piece {
	size_t race;
	uint32_t line, at;
	uint64_t mask;
	uint32_t nvalues;
};

struct race_run {
	uint64_t outcome;
	struct sparse_set left; /* the states for which the run stands */
};

typedef VEC(struct piece) piece_list;
typedef VEC(struct race_run) race_run_list;

struct races {
	const struct race_options *o;
	struct race_table *table;
	uint32_t worker;
	VEC(struct known_race) list;
	VEC(struct race) told; /* the result of races_list() */
	race_turns turns;      /* if they are wanted */
	struct semantics *semantics;
	struct uninitialised *uninitialised;
	struct novelty novelty;
	uint64_t nstores; /* up to the last failure point that the walk reached */
	/* about the present failure point */
	bool is_novel;
	bool is_watched; /* its first run shows what infer.h needs */
	bool is_lone;    /* lone_store.h: only one word can be lost, and one store replaced it */
	bool is_listed;  /* ... and its readers are listed */
	struct infer_common common;
	piece_list pieces;
	race_run_list runs;
};

/* Draws the conclusions about the races of a failure point when it is this worker's turn; may run
 * recovery. */
int race_conclude(struct races *r, struct explorer *e, struct error *err);

/* verified.c: did recovery verify all that it read as a whole, for example by a checksum? To be
 * called after the runs of a failure point. -1: error. */
int race_is_verified(const struct races *r, struct explorer *e, struct error *err);
/* Does the race have an excuse that does not depend on other words? */
bool race_is_settled(const struct known_race *k);

#endif
