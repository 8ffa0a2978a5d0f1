/* Finds the states of a failure point in which one word is old, or new. The word is one that
 * recovery reads and a crash could lose. */
#ifndef CRASH_RACES_WORD_STATES_H
#define CRASH_RACES_WORD_STATES_H

#include "crash/races/history.h"
#include "crash/states/states.h"

/* Does content c of the word's line have the word's newest value? */
bool word_is_newest(const struct state_set *s, const struct state_line *l, const struct suspect *w,
		    uint32_t c);
/* Keeps the states of a set in which the word has an older value than the newest; all states if
 * there are none. */
void word_make_old(const struct suspect *s, const struct state_set *set, uint64_t *left);
/* Gives the states of the failure point in which the word has an older value than the newest; all
 * states if there are none. free() it. */
uint64_t *word_old_states(const struct suspect *s, const struct state_set *set);
/* Keeps one state: the newest content left of each line. */
void states_keep_newest(const struct state_set *set, uint64_t *left);

#endif
