/* What a worker reports to its parent: bugs, races, states whose recovery writes. How they are
 * sent, and when two of them are the same. */
#ifndef CRASH_FINDINGS_FINDINGS_H
#define CRASH_FINDINGS_FINDINGS_H

#include "crash/findings/exploration.h"
#include "util/wire.h"

/* ---- findings_wire.c: send one, or fill an empty one ---- */

void bug_pass(struct wire *m, struct crash_bug *b);
void bug_endings_pass(struct wire *m, struct crash_bug *b); /* only these, into a bug without any */
void race_pass(struct wire *m, struct race *r);
void race_turn_pass(struct wire *m, struct race_turn *t);
void first_crash_pass(struct wire *m, struct first_crash *f);

/* ---- findings_merge.c: those of several workers become one list ---- */

/* Both are one. A guessed survivor may be any; which bug a guess stands for is decided in the end
 * (bugs_settle()), or it would depend on who knew what then. */
bool bug_same(const struct crash_bug *a, const struct crash_bug *b);
/* Of two that are the same, a is to be told of: it is decided, or at an earlier failure point. */
bool bug_speaks_for(const struct crash_bug *a, const struct crash_bug *b);
/* Gives the endings of one bug to another one that is the same. */
void bug_move_endings(struct crash_bug *from, struct crash_bug *to);
/* The place of the surviving store that tells it from others, 0: none, or any. */
uint32_t bug_survivor(const struct crash_bug *b);
/* One bug of several workers is one: the earlier. Takes b. */
void bug_merge(struct crash_result *r, struct crash_bug *b);
/* One race of several workers is one: the earliest tells of it (of those that are certain, if any
 * is), and whoever knows most says what it is. Takes race. */
void race_merge(struct crash_result *r, struct race *race);
/* One of each signature: the earliest. Takes f. */
void first_crash_merge(struct crash_result *r, struct first_crash *f);
/* When all have told. Bugs are in order: one whose surviving store is a guess is one that is known
 * better, if there is such a one. */
void bugs_settle(struct crash_result *r);
void first_crashes_settle(struct crash_result *r);
/* The same for the races of the workers that shared a table: one refutation counts more than any
 * confirmation; and a read that is meant so needs no other variable's leave, unless the program
 * itself named it in a range. */
void races_settle(const struct plan *p, const struct race_table *table, bool is_stopped,
		  struct crash_result *r);
/* By failure point. */
void bugs_sort(struct crash_result *r);
void findings_sort(struct crash_result *r);

#endif
