/* Finds out whether recovery uses the words that it reads, by running it with other values in
 * them. */
#ifndef CRASH_RACES_UNUSED_H
#define CRASH_RACES_UNUSED_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

/* Asks at the walk's failure point, with the set loaded, whether recovery uses any of the words. 1:
 * it uses none; 0: it may use some; -1: error. */
int unused_ask(struct explorer *e, struct state_set *set, const struct suspects *words,
	       struct error *err);

/* Is the word a switch: with a value that is neither old nor new, does recovery end as with one of
 * the two? If the word is data, recovery ends in a third way. 1: yes; 0: no, or recovery does not
 * accept both values; -1: error. */
int unused_is_switch(struct explorer *e, struct state_set *set, const struct suspect *word,
		     struct error *err);
/* Does recovery, which reads the word in any case, use it only if the suspect is new? Then the word
 * may have any value if the suspect is old, but not if it is new. 1: yes; 0: no, or recovery does
 * not accept both values of the suspect; -1: error. */
int unused_unless_new(struct explorer *e, struct state_set *set, const struct suspect *suspect,
		      const struct suspect *word, struct error *err);

#endif
