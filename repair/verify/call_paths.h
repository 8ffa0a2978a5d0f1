/* The call paths of a trace, by number: from the line that the user knows outwards. And what each did to persistent memory. */
#ifndef REPAIR_VERIFY_CALL_PATHS_H
#define REPAIR_VERIFY_CALL_PATHS_H

#include "crash/states/plan.h"
#include "repair/repair.h"
#include "session/locate.h"
#include "util/map.h"

struct fix_places {
	struct locator *locator; /* owns names */
	VEC(uint32_t) by_site;	 /* 0: not known */
	struct map numbers;	 /* by a hash of the path */
	VEC(struct repair_place) observed; /* by number - 1: see struct repair_cure */
};

int fix_places_find(struct fix_places *p, const struct plan *plan, struct error *err);
void fix_places_release(struct fix_places *p);
/* Of a location in a report; 0: no event came from there. */
uint32_t fix_places_number(const struct fix_places *p, const struct bug_location *l);

#endif
