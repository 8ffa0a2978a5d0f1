/* Reads --shard I/N (do only part I of N) and --continue PART.json (save the part in this file; if
 * the file exists, go on where the part ended). */
#ifndef CMD_SHARD_OPTION_H
#define CMD_SHARD_OPTION_H

#include "cmd/crash_options.h"
#include "cmd/reporting.h"

/* Gives the part to explore, and sets the report's file; none without --shard. Dies if an option is
 * wrong. */
struct shard shard_option_set(const struct command *c, const struct shard_options *o,
			      struct reporting *r, bool has_trace);

#endif
