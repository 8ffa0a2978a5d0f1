/* What a dump was compared with, for the report of a crash. */
#ifndef ACCOUNT_DUMP_COMPARISON_H
#define ACCOUNT_DUMP_COMPARISON_H

#include "crash/findings/exploration.h"
#include "account/dump_diff.h"

struct comparison {
	struct bug_comparison told;
	char *before, *after, *found; /* excerpts */
	struct dump_diff diff;
};

/* texts: of what is allowed. plan, seq: of the program, and the event before which it crashed.
 * false: it was not a dump that decided; then there is nothing to release. */
bool comparison_make(struct comparison *c, const struct crash_bug *b,
		     const struct dump_texts *texts, const struct plan *plan, uint64_t seq);
void comparison_release(struct comparison *c);

#endif
