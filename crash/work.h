/* Exploring what there is to explore, when recovery is known to cope with the states where nothing
 * is lost. */
#ifndef CRASH_WORK_H
#define CRASH_WORK_H

#include "crash/findings/exploration.h"
#include "crash/workers/share.h"
#include "crash/search/references.h"

/* A dump is compared with what it prints between operations. */
bool work_wants_references(const struct crash_options *o, const struct crash_result *r);
/* Goes on from what the result holds already. Of the representatives, the points are taken; of
 * other strategies, the share is explored. */
int work_on_all(const struct plan *p, const struct crash_options *o, struct references *refs,
		struct rep_points *points, const struct share *share, struct crash_result *r,
		struct error *err);

#endif
