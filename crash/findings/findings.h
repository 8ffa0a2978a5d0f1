/* Sends the findings that a worker reports to its parent (bugs, races, and states whose recovery
 * writes), and decides when two findings count as the same. */
#ifndef CRASH_FINDINGS_FINDINGS_H
#define CRASH_FINDINGS_FINDINGS_H

#include "crash/findings/exploration.h"
#include "util/wire.h"

/* ---- findings_wire.c: sends a finding, or fills an empty one ---- */

void bug_pass(struct wire *m, struct crash_bug *b);
/* Sends only the endings of a bug, or receives them into a bug that has none. */
void bug_endings_pass(struct wire *m, struct crash_bug *b);
void race_pass(struct wire *m, struct race *r);
void race_turn_pass(struct wire *m, struct race_turn *t);
void first_crash_pass(struct wire *m, struct first_crash *f);

/* ---- findings_merge.c: merges the findings of several workers into one list ---- */

/* Do findings a and b show the same bug? One whose survivor is guessed and one whose survivor is
 * known never count as the same here; bugs_settle() decides at the end which bug a guess stands
 * for. Otherwise the result would depend on what each worker knew at that moment. */
bool bug_same(const struct crash_bug *a, const struct crash_bug *b);
/* Of two equal bugs, is a the one to report? It is if its survivor is not guessed, or if its
 * failure point is earlier. */
bool bug_speaks_for(const struct crash_bug *a, const struct crash_bug *b);
/* Moves the endings of one bug to another one that is the same. */
void bug_move_endings(struct crash_bug *from, struct crash_bug *to);
/* Gives the place of the surviving store, by which bugs differ; 0: there is none, or it is guessed
 * and may be any. */
uint32_t bug_survivor(const struct crash_bug *b);
/* Adds a worker's bug to the result; of two equal bugs, the earlier stays. Takes b. */
void bug_merge(struct crash_result *r, struct crash_bug *b);
/* Adds a worker's race to the result. Of two equal races, the earliest is reported (the earliest
 * certain one, if any is), with the state of the worker that knows most. Takes race. */
void race_merge(struct crash_result *r, struct race *race);
/* Adds a worker's first crash; of each signature, the earliest stays. Takes f. */
void first_crash_merge(struct crash_result *r, struct first_crash *f);
/* Replaces guesses after all workers have reported: a bug whose survivor is guessed is joined with
 * an equal bug whose survivor is known, if there is one. Bugs are in order. */
void bugs_settle(struct crash_result *r);
void first_crashes_settle(struct crash_result *r);
/* Decides the final states of the races, for workers that shared a table: one refutation outweighs
 * all confirmations. An intended read needs no permission of another variable, unless the program
 * itself named it in a range. */
void races_settle(const struct plan *p, const struct race_table *table, bool is_stopped,
		  struct crash_result *r);
/* Sorts the bugs of the result by failure point. */
void bugs_sort(struct crash_result *r);
void findings_sort(struct crash_result *r);

#endif
