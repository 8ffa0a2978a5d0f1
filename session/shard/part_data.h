/* What a part keeps for others, as text with a sum that tells if it was damaged. */
#ifndef SESSION_SHARD_PART_DATA_H
#define SESSION_SHARD_PART_DATA_H

#include "util/wire.h"

char *part_data_encode(const struct wire *m); /* free() it */
/* -1: it is damaged. */
int part_data_decode(struct wire *m, const char *text);

#endif
