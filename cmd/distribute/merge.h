/* Merges parts: what `pmend merge` and `pmend submit` share. */
#ifndef CMD_DISTRIBUTE_MERGE_H
#define CMD_DISTRIBUTE_MERGE_H

#include "cmd/reporting.h"

/* Merges parts and ends with a report; returns enum cmd_status. trace NULL: it is where it was when
 * the parts were made. */
int merge_parts(char **paths, size_t n, const char *trace, struct reporting *reporting,
		bool is_asked);

#endif
