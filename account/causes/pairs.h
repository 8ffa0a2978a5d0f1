/* Joins what `check` says about two threads with what `crash` shows: a store that another thread
 * read before it was durable (unpersisted-read), and a crash state that loses this store and keeps
 * the reader's work. */
#ifndef ACCOUNT_CAUSES_PAIRS_H
#define ACCOUNT_CAUSES_PAIRS_H

#include "report/bug.h"
#include "source/locate.h"
#include "trace/trace.h"

/* Does the report have such pairs? */
bool pairs_are_there(const struct report *r);
/* Makes one finding of each pair that a crash state confirms: it gets the crash, and the finding of
 * `crash` is listed under it. If recovery was run on all crash states, the other pairs become
 * warnings. has_crashes: the report's coverage is that of crashes. To be called when all other
 * findings are grouped. */
void pairs_confirm(struct report *r, const struct trace *t, struct locator *l, bool has_crashes);

#endif
