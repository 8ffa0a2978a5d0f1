/* The reads of recovery that had a choice: of bytes that a crash can leave in several ways, in one
 * state that fails. */
#ifndef CRASH_SEARCH_CHOICES_H
#define CRASH_SEARCH_CHOICES_H

#include "crash/search/explorer.h"

#define CHOICES_MAX 40u      /* reads that are kept */
#define CHOICE_VALUES_MAX 6u /* values of each */
#define CHOICE_LOST_MAX 3u   /* stores of each value */

struct choice_value {
	char *bytes;   /* hexadecimal */
	bool is_taken; /* the state that fails has it */
	/* some of the stores to these bytes that a crash has to lose for it, the oldest first */
	VEC(struct crash_store) lost;
};

struct crash_choice {
	uint64_t addr; /* PM address */
	uint32_t len_bytes;
	enum recovery_part part;
	VEC(uint64_t) stack;             /* the reading instruction, then return addresses */
	VEC(struct choice_value) values; /* the newest first */
	uint64_t nvalues;                /* that there are */
};
typedef VEC(struct crash_choice) crash_choices;

void crash_choices_release(crash_choices *list);
/* A run that explains a failure, on the state, with all bytes watched that are undecided. *nall:
 * how many reads there are; the list stays empty if recovery does not fail as v says. why_unsound
 * of *now: it could not be watched, and says nothing. The runner has the states `watched` until
 * choices_end(), and e's states again then. */
int choices_try(struct explorer *e, const char *state, const struct verdict *v, crash_choices *list,
		uint64_t *nall, struct verdict *now, struct state_set *watched, struct error *err);
void choices_end(struct explorer *e, struct state_set *watched);

#endif
