/* Lists the reads of recovery that had a choice: in one failing state, the reads of bytes that a
 * crash can leave with several values. */
#ifndef CRASH_SEARCH_CHOICES_H
#define CRASH_SEARCH_CHOICES_H

#include "crash/search/explorer.h"

#define CHOICES_MAX 40u      /* largest number of reads that are kept */
#define CHOICE_VALUES_MAX 6u /* largest number of values of a read */
#define CHOICE_LOST_MAX 3u   /* largest number of stores of a value */

struct choice_value {
	char *bytes;   /* in hexadecimal */
	bool is_taken; /* the value of the failing state */
	/* some of the stores to these bytes that a crash must lose to leave this value, the oldest
	 * first */
	VEC(struct crash_store) lost;
};

struct crash_choice {
	uint64_t addr; /* PM address */
	uint32_t len_bytes;
	enum recovery_part part;
	VEC(uint64_t) stack;             /* the reading instruction, then return addresses */
	VEC(struct choice_value) values; /* the newest first */
	uint64_t nvalues;                /* number of all values */
};
typedef VEC(struct crash_choice) crash_choices;

void crash_choices_release(crash_choices *list);
/* Runs recovery on the failing state, with all undecided bytes watched. *nall: number of reads; the
 * list stays empty if recovery does not fail as v says. If now->why_unsound is set, the run could
 * not be watched and proves nothing. The runner has the states `watched` until choices_end(), which
 * loads e's states again. */
int choices_try(struct explorer *e, const char *state, const struct verdict *v, crash_choices *list,
		uint64_t *nall, struct verdict *now, struct state_set *watched, struct error *err);
void choices_end(struct explorer *e, struct state_set *watched);

#endif
