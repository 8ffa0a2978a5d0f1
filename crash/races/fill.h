/* Does it matter what undefined bytes hold? Recovery is run with other contents there. That it ends
 * in the same way with all of them is no proof, but nothing speaks against it. */
#ifndef CRASH_RACES_FILL_H
#define CRASH_RACES_FILL_H

#include "crash/races/history.h"
#include "crash/search/explorer.h"

enum filled {
	FILLED_ERROR = -1,
	/* recovery ends in the same way, and leaves the same elsewhere, with each content that was
	 * tried */
	FILLED_SAME,
	FILLED_DIFFERS,
	FILLED_UNKNOWN, /* the budget ended, or recovery does not end twice in the same way */
};

/* At the failure point of the walk, with its set loaded, on a state with one content per line:
 * words are of lines of the set, of at most 8 bytes each. All get another content at once. *how:
 * what made a difference, in words; free() it. The set is as before afterwards. */
enum filled fill_try(struct explorer *e, const uint64_t *state, const struct suspects *words,
		     char **how, struct error *err);

#endif
