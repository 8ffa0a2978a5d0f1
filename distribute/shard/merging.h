/* Merges the reports of the parts of an exploration into the report that one process would have
 * made. */
#ifndef DISTRIBUTE_SHARD_MERGING_H
#define DISTRIBUTE_SHARD_MERGING_H

#include "crash/findings/exploration.h"
#include "report/bug.h"
#include "crash/setup/crash_setup.h"

struct merging {
	struct report **list; /* by number of the part */
	uint32_t n;
	struct crash_parts parts;
	const struct word_list *checks; /* of `pmend test`; NULL for `pmend crash` */
	struct crash_result sum;
};

/* Reads the parts. -1 with err, which names the part, unless they are all parts of one exploration,
 * each once. */
int merging_open(struct merging *m, char **paths, size_t n, struct error *err);
void merging_close(struct merging *m);
const struct report_shard *merging_shard(const struct merging *m); /* that of the first part */
/* Makes the setup, which must be that of the parts, do only what depends on all parts together.
 * checks: the words of `pmend test` in the parts. */
void merging_begin(struct merging *m, struct crash_setup *s, const struct word_list *checks);

#endif
