/* Why an exploration is not complete. */
#ifndef CRASH_MISSING_H
#define CRASH_MISSING_H

#include "crash/findings/exploration.h"

/* Recovery dies where nothing is lost: then there is nothing to explore. */
bool missing_has_died(const struct crash_result *r);
/* All the reasons; none: it is complete. failure: why pmend itself could not go on; NULL: it
 * could. */
void missing_find(crash_reasons *list, const struct plan *p, const struct crash_options *o,
		  const struct crash_result *r, bool is_interrupted, const char *failure);
/* The same for a file beside the pool that recovery uses. */
void missing_find_beside(crash_reasons *list, const struct crash_result *r);

#endif
