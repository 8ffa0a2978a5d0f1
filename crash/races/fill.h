/* Finds out whether it matters what undefined bytes contain: recovery is run with other contents.
 * If it ends the same way with all of them, that is no proof, but nothing speaks against it. */
#ifndef CRASH_RACES_FILL_H
#define CRASH_RACES_FILL_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

enum filled {
	FILLED_ERROR = -1,
	/* recovery ends the same way and leaves the same elsewhere, with each content that was
	 * tried */
	FILLED_SAME,
	FILLED_DIFFERS,
	FILLED_UNKNOWN, /* the budget ended, or recovery does not end twice in the same way */
};

/* Tries contents at the walk's failure point, with its set loaded, on a state with one content per
 * line. Each word is in a line of the set and has at most 8 bytes; all get another content at once.
 * *how: says what made a difference; free() it. The set is restored afterwards. */
enum filled fill_try(struct explorer *e, const uint64_t *state, const struct suspects *words,
		     char **how, struct error *err);

#endif
