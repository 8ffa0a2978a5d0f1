/* Encodes and decodes the data that a part keeps in its report for the merge: a text with a
 * checksum. */
#ifndef DISTRIBUTE_SHARD_PART_DATA_H
#define DISTRIBUTE_SHARD_PART_DATA_H

#include "crash/findings/exploration.h"
#include "report/bug.h"
#include "util/wire.h"

char *part_data_encode(const struct wire *m); /* free() it */
/* Decodes what part_data_encode() made. -1 if it is damaged. */
int part_data_decode(struct wire *m, const char *text);
/* Fills an empty result from a part's data. -1 if it is damaged, or of another trace. */
int part_decode(struct crash_result *r, const struct plan *p, const struct report_shard *s);

#endif
