/* --shard and --continue. */
#ifndef CMD_SHARD_OPTION_H
#define CMD_SHARD_OPTION_H

#include "cmd/crash_options.h"
#include "cmd/reporting.h"

/* Which part; the report is written where it is kept. None without --shard. Dies if something is
 * wrong with what the user said. */
struct shard shard_option_set(const struct command *c, const struct shard_options *o,
			      struct reporting *r, bool has_trace);

#endif
