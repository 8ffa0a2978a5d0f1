/* Finds the findings whose cause is a flush that covers less than it is given. */
#ifndef ACCOUNT_CAUSES_HELPERS_H
#define ACCOUNT_CAUSES_HELPERS_H

#include "report/bug.h"
#include "account/causes/trials.h"
#include "trace/owner.h"
#include "trace/trace.h"

bool helpers_are_wanted(const struct report *r); /* otherwise there is nothing to explain */

/* Lists stores that are not flushed under the helper or the call that left them out, if a trial
 * shows that they are flushed when the helper or call flushes all that it is given. The helper or
 * the call becomes a finding of the report. */
void helpers_explain(struct report *r, const struct trace *t, const struct libraries *libraries,
		     struct trials *trials);

#endif
