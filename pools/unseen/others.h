/* Finds processes that are not recorded and may change the PM files of a recording. */
#ifndef POOLS_UNSEEN_OTHERS_H
#define POOLS_UNSEEN_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

#include "pools/unseen/received_fds.h"

struct others {
	uint32_t nlooked; /* files that were searched for */
	char *found;      /* the first such process, in words; NULL if none was found */
};

/* Searches for a process that has a kept file open or mapped for writing, and that pmend did not
 * start. Searches for all kept files, or, unless is_for_all, for those that came since the last
 * call. It cannot see a process that opened and closed a file between two calls, nor processes of
 * other users. */
void others_look(struct others *o, struct kept *k, bool is_for_all);
void others_release(struct others *o);

#endif
