/* How a recording ended, for its report. */
#ifndef SESSION_ENDING_H
#define SESSION_ENDING_H

#include "model/cut.h"
#include "report/bug.h"
#include "trace/trace.h"

/* Says nothing of a program that ended well. The trace was read to its end. */
void ending_tell(struct report *r, const struct trace *t, enum cut_extent cut);
/* What keeps a trace from being all that happened, in words; NULL: it is. That processes were killed does not count: everything up to then is there. */
const char *ending_loss(const struct trace *t);

#endif
