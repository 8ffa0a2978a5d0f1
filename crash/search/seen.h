/* Remembers how recovery ended on the states of a failure point that were run. A lazy run, which
 * decides a line only when recovery reads it, stands for a set of states that all end alike: a
 * question about one of them needs no run. */
#ifndef CRASH_SEARCH_SEEN_H
#define CRASH_SEARCH_SEEN_H

#include "crash/search/verdict.h"
#include "crash/states/sparse.h"

struct seen_run {
	struct sparse_set set;
	enum verdict_kind kind;
	int code;
	uint64_t site;
	uint64_t printed; /* verdict_printed(); 0: unknown */
	bool is_brief;    /* it hung, but only the short limit ended it */
};

/* Zero-initialised is empty. */
struct seen {
	VEC(struct seen_run) list;
	bool is_blind; /* a run that explained a failure could not tell what it read */
};

void seen_clear(struct seen *s);
void seen_release(struct seen *s);
/* Adds the states for which a run stands. printed: verdict_printed(); 0: unknown. */
void seen_add(struct seen *s, const struct state_set *set, const uint64_t *left,
	      const struct verdict *v, uint64_t printed);
/* Looks up a state; fills only how recovery ended: kind, code, site. False: nobody ran this
 * state. takes_brief: a run that the short limit ended counts, too. */
bool seen_find(const struct seen *s, const struct state_set *set, const uint64_t *state,
	       bool takes_brief, struct verdict *v);
uint64_t seen_printed(const struct seen *s, const struct state_set *set, const uint64_t *state);

#endif
