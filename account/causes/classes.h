/* Numbers for the places of a trace: sites that the user sees as the same line with the same
 * callers have the same number. */
#ifndef ACCOUNT_CAUSES_CLASSES_H
#define ACCOUNT_CAUSES_CLASSES_H

#include "account/causes/facts.h"
#include "source/locate.h"

struct classes {
	VEC(uint32_t) by_site; /* by site id; 0: unknown */
	uint32_t n;            /* the largest number */
};

/* Numbers all sites that facts_take() met. */
void classes_find(struct classes *c, const struct facts *f, struct locator *l);
void classes_release(struct classes *c);
uint32_t classes_of(const struct classes *c, uint32_t site);

#endif
