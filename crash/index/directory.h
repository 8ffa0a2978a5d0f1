/* The directory of an index: which trace and walk the index is for, and where its frames are. Only
 * for crash/index. */
#ifndef CRASH_INDEX_DIRECTORY_H
#define CRASH_INDEX_DIRECTORY_H

#include "crash/index/frames.h"
#include "crash/states/plan.h"

#define POINTS_EACH 65536u /* failure points per frame */

struct checkpoint {
	uint64_t point, seq; /* it comes after this failure point and this event */
	struct frame state;  /* the content of walk_pass() */
	struct frame image;  /* the changes since the checkpoint before: image_pass_changes() */
};

struct directory {
	uint64_t identity; /* of the trace */
	char *version, *platform;
	bool is_distrusting;
	unsigned stops;
	uint64_t making; /* making_hash() */
	struct frame plan;
	uint64_t npoints;
	VEC(struct frame) points; /* POINTS_EACH per frame, fewer in the last */
	VEC(struct checkpoint) checkpoints;
};

void directory_pass(struct wire *w, struct directory *d);
void directory_release(struct directory *d);
/* Hashes the sites where libraries make pools; failure points depend on them. */
uint64_t making_hash(const struct plan *p);

#endif
