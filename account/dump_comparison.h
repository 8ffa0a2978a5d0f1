/* Says, for a crash in a report, with what recovery's dump was compared and where they differ. */
#ifndef ACCOUNT_DUMP_COMPARISON_H
#define ACCOUNT_DUMP_COMPARISON_H

#include "crash/findings/exploration.h"
#include "account/dump_diff.h"

struct comparison {
	struct bug_comparison told;
	char *before, *after, *found; /* excerpts */
	struct dump_diff diff;
};

/* Makes the comparison. texts: those of the allowed dumps. plan, seq: of the program, and the event
 * before which it crashed. false: no dump decided, and there is nothing to release. */
bool comparison_make(struct comparison *c, const struct crash_bug *b,
		     const struct dump_texts *texts, const struct plan *plan, uint64_t seq);
void comparison_release(struct comparison *c);

#endif
