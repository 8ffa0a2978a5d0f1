/* What an index is for, and where its frames are. For crash/index only. */
#ifndef CRASH_INDEX_DIRECTORY_H
#define CRASH_INDEX_DIRECTORY_H

#include "crash/index/frames.h"
#include "crash/states/plan.h"

#define POINTS_EACH 65536u /* of a frame */

struct checkpoint {
	uint64_t point, seq; /* it comes after this failure point, and after this event */
	struct frame state;  /* walk_pass() */
	struct frame image;  /* what changed since the checkpoint before: image_pass_changes() */
};

struct directory {
	uint64_t identity; /* of the trace */
	char *version, *platform;
	bool is_distrusting;
	unsigned stops;
	uint64_t making; /* making_hash() */
	struct frame plan;
	uint64_t npoints;
	VEC(struct frame) points; /* POINTS_EACH of them, the last one fewer */
	VEC(struct checkpoint) checkpoints;
};

void directory_pass(struct wire *w, struct directory *d);
void directory_release(struct directory *d);
/* Of the sites where libraries make pools, which decide about failure points. */
uint64_t making_hash(const struct plan *p);

#endif
