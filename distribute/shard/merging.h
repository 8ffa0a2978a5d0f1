/* Putting parts of an exploration together. */
#ifndef DISTRIBUTE_SHARD_MERGING_H
#define DISTRIBUTE_SHARD_MERGING_H

#include "crash/findings/exploration.h"
#include "report/bug.h"
#include "crash/setup/crash_setup.h"

struct merging {
	struct report **list; /* by number */
	uint32_t n;
	struct crash_parts parts;
	const struct word_list *checks; /* of `pmend test`; NULL: of `pmend crash` */
	struct crash_result sum;
};

/* Reads the parts. -1 with err if they are not all parts of one exploration, each once: which one
 * is wrong or missing. */
int merging_open(struct merging *m, char **paths, size_t n, struct error *err);
void merging_close(struct merging *m);
const struct report_shard *merging_shard(const struct merging *m); /* of the first part */
/* Has the setup, which must be that of the parts, explore nothing but what depends on all of them.
 * checks: of `pmend test`, the words in the parts. */
void merging_begin(struct merging *m, struct crash_setup *s, const struct word_list *checks);

#endif
