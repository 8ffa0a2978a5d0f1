/* What a part keeps for others, as text with a sum that tells if it was damaged. */
#ifndef DISTRIBUTE_SHARD_PART_DATA_H
#define DISTRIBUTE_SHARD_PART_DATA_H

#include "crash/findings/exploration.h"
#include "report/bug.h"
#include "util/wire.h"

char *part_data_encode(const struct wire *m); /* free() it */
/* -1: it is damaged. */
int part_data_decode(struct wire *m, const char *text);
/* Fills an empty result with what a part of an exploration keeps. -1: it is damaged, or it is none
 * of this trace. */
int part_decode(struct crash_result *r, const struct plan *p, const struct report_shard *s);

#endif
