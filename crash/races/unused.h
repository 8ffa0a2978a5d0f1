/* Does recovery use what it reads? */
#ifndef CRASH_RACES_UNUSED_H
#define CRASH_RACES_UNUSED_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

/* At the failure point of the walk, with the set loaded. 1: nobody uses any of the words; 0:
 * somebody may; -1: error. */
int unused_ask(struct explorer *e, struct state_set *set, const struct suspects *words,
	       struct error *err);

/* The word is a switch: with a value that is neither its old nor its new one, recovery ends as with
 * one of the two. What is data shows in a third end. 1: yes; 0: no, or recovery does not accept
 * both; -1: error. */
int unused_is_switch(struct explorer *e, struct state_set *set, const struct suspect *word,
		     struct error *err);
/* The suspect's value decides whether a word is used that recovery reads in any case: with the
 * suspect old, any value of the word does; with it new, not. 1: yes; 0: no, or recovery does not
 * accept both; -1: error. */
int unused_unless_new(struct explorer *e, struct state_set *set, const struct suspect *suspect,
		      const struct suspect *word, struct error *err);

#endif
