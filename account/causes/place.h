/* Where a finding is, for comparing it with others. */
#ifndef ACCOUNT_CAUSES_PLACE_H
#define ACCOUNT_CAUSES_PLACE_H

#include "report/bug.h"

/* The same functions and lines from the frame that is shown outwards; without recursion. */
bool place_same(const struct bug_location *a, const struct bug_location *b);
/* Two lines of one function, which was called in the same way; what they call, such as a function
 * that stores for its caller, is one function, too. */
bool place_same_function(const struct bug_location *a, const struct bug_location *b);
/* The first location with that role; NULL. */
const struct bug_location *place_find(const struct bug *b, const char *role);
/* The store that the finding is about: that is lost, or not durable. NULL: it is about none. */
const struct bug_location *place_store(const struct bug *b);
bool place_is(const struct bug_location *l, const char *role);

/* What a finding lacks for its store. */
enum lack { LACKS_NOTHING, LACKS_FLUSH, LACKS_FENCE };
enum lack place_lack(const struct bug *b);
/* Up to where a fence would help; NULL: not known. */
const struct bug_location *place_end(const struct bug *b);

#endif
