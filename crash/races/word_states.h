/* States of a failure point in which one word, which recovery reads and a crash could lose, is old
 * or new. */
#ifndef CRASH_RACES_WORD_STATES_H
#define CRASH_RACES_WORD_STATES_H

#include "crash/races/history.h"
#include "crash/states/states.h"

/* Content c of the word's line has the word's newest value. */
bool word_is_newest(const struct state_set *s, const struct state_line *l, const struct suspect *w,
		    uint32_t c);
/* Of a set of states, those where the word has an older value than the newest; all, if there are
 * none. */
void word_make_old(const struct suspect *s, const struct state_set *set, uint64_t *left);
/* of all; free() it */
uint64_t *word_old_states(const struct suspect *s, const struct state_set *set);
/* One state: the newest content left of each line. */
void states_keep_newest(const struct state_set *set, uint64_t *left);

#endif
