/* Processes that are not recorded and may change the PM files of a recording. */
#ifndef POOLS_UNSEEN_OTHERS_H
#define POOLS_UNSEEN_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

#include "pools/unseen/kept.h"

struct others {
	uint32_t nlooked; /* files that were looked for */
	char *found;      /* the first such process, in words; NULL: none */
};

/* Looks for a process that has one of the kept files open or mapped for writing, and that this one
 * did not start: files that came since the last look, or all. What such a process opened and closed
 * between two looks is not seen, nor what another user's processes do. */
void others_look(struct others *o, struct kept *k, bool is_for_all);
void others_release(struct others *o);

#endif
