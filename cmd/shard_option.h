/* --shard and --continue. */
#ifndef CMD_SHARD_OPTION_H
#define CMD_SHARD_OPTION_H

#include "cmd/crash_options.h"
#include "cmd/reporting.h"

/* Has the setup explore a part, and the report written where it is kept. Dies if something is wrong with what the user said. */
void shard_option_set(const struct command *c, const struct shard_options *o, struct crash_setup *s, struct reporting *r, bool has_trace);

#endif
