/* From a state that recovery does not cope with to the smallest loss that does the same. */
#ifndef CRASH_SEARCH_MINIMISE_H
#define CRASH_SEARCH_MINIMISE_H

#include "crash/search/explorer.h"

enum minimise_end { MINIMISE_DONE, MINIMISE_UNSTABLE, MINIMISE_LIMITED, MINIMISE_LATE, MINIMISE_ERROR };

/* Puts lost lines back to their newest content as long as recovery fails as it did. Unstable: the state does not fail again. Limited: only because of a limit
 * of ours, which the explorer's why_fallback names. */
enum minimise_end minimise(struct explorer *e, uint64_t *state, const struct verdict *v, struct error *err);

/* Where a line's stores are in no order (arm64), the state may show a later one without an earlier one. Loses the later ones, too, where recovery still fails so:
 * what is left of such lines is needed. has_gaps: there are some. */
enum minimise_end minimise_gaps(struct explorer *e, uint64_t *state, const struct verdict *v, bool *has_gaps, struct error *err);
/* The line shows a later store without an earlier one. */
bool minimise_is_gap(const struct explorer *e, const struct state_line *l, const uint64_t *state);

/* Loses more: of the lines with nothing lost, all that can be lost without curing the failure. What survives then is what matters. */
enum minimise_end minimise_survivors(struct explorer *e, uint64_t *state, const struct verdict *v, struct error *err);

#endif
