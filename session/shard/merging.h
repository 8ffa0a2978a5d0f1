/* Putting parts of an exploration together. */
#ifndef SESSION_SHARD_MERGING_H
#define SESSION_SHARD_MERGING_H

#include "crash/exploration.h"
#include "report/bug.h"
#include "session/crash_setup.h"

struct merging {
	struct report **parts; /* by number */
	uint32_t n;
};

/* Reads the parts. -1 with err if they are not all parts of one exploration, each once: which one is wrong or missing. */
int merging_open(struct merging *m, char **paths, size_t n, struct error *err);
void merging_close(struct merging *m);
const struct report_shard *merging_shard(const struct merging *m); /* of the first part */
/* Adds up what they found. The setup, whose plan was made, must be that of the parts. */
int merging_add_up(const struct merging *m, const struct crash_setup *s, const char *trace, struct crash_result *sum, struct error *err);

#endif
