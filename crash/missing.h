/* Says why an exploration is not complete. */
#ifndef CRASH_MISSING_H
#define CRASH_MISSING_H

#include "crash/findings/exploration.h"

/* Did recovery die where nothing is lost? Then nothing is explored. */
bool missing_has_died(const struct crash_result *r);
/* Lists all reasons; an empty list means that the exploration is complete. failure: why pmend
 * itself could not go on, or NULL. */
void missing_find(crash_reasons *list, const struct plan *p, const struct crash_options *o,
		  const struct crash_result *r, bool is_interrupted, const char *failure);
/* Adds the reason that recovery uses a file beside the pool. */
void missing_find_beside(crash_reasons *list, const struct crash_result *r);

#endif
