/* How recovery ended on the states of a failure point that were run. A lazy run stands for a set of
 * states, which all end alike: whoever asks about one of them needs no run. */
#ifndef CRASH_SEARCH_SEEN_H
#define CRASH_SEARCH_SEEN_H

#include "crash/search/verdict.h"
#include "crash/states/sparse.h"

struct seen_run {
	struct sparse_set set;
	enum verdict_kind kind;
	int code;
	uint64_t site;
	uint64_t printed; /* verdict_printed(); 0: not known */
};

/* Zero-initialised is none. */
struct seen {
	VEC(struct seen_run) list;
	bool is_blind; /* a run to explain a failure could not tell what it read */
};

void seen_clear(struct seen *s);
void seen_release(struct seen *s);
/* The states that are left after a run which counts. printed: as above. */
void seen_add(struct seen *s, const struct state_set *set, const uint64_t *left,
	      const struct verdict *v, uint64_t printed);
/* Of the verdict, only how recovery ended is filled: kind, code, site. False: nobody ran this
 * state. */
bool seen_find(const struct seen *s, const struct state_set *set, const uint64_t *state,
	       struct verdict *v);
uint64_t seen_printed(const struct seen *s, const struct state_set *set, const uint64_t *state);

#endif
