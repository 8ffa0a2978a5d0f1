/* Compares the places of findings, and finds the places that a finding is about. */
#ifndef ACCOUNT_CAUSES_PLACE_H
#define ACCOUNT_CAUSES_PLACE_H

#include "report/bug.h"

/* Do both places have the same functions and lines from the shown frame outwards, apart from
 * recursion? */
bool place_same(const struct bug_location *a, const struct bug_location *b);
/* Are both places in one function that was called in the same way? A function that they call, such
 * as one that stores for its caller, counts as one function, too. */
bool place_same_function(const struct bug_location *a, const struct bug_location *b);
/* Finds the first location with that role; NULL: none. */
const struct bug_location *place_find(const struct bug *b, const char *role);
/* Finds the lost or undurable store that the finding is about; NULL: it is about none. */
const struct bug_location *place_store(const struct bug *b);
bool place_is(const struct bug_location *l, const char *role);

/* What the finding lacks for its store. */
enum lack { LACKS_NOTHING, LACKS_FLUSH, LACKS_FENCE };
enum lack place_lack(const struct bug *b);
/* Gives the place before which a fence would help; NULL: unknown. */
const struct bug_location *place_end(const struct bug *b);

#endif
