/* Finds out which reads of a run are unsafe only on arm64. An amd64 recording that is analysed for
 * arm64 has states in which a line shows a later store without an earlier one. If only such a state
 * makes a read unsafe, the finding is about porting. */
#ifndef CRASH_RACES_PORTED_H
#define CRASH_RACES_PORTED_H

#include "crash/search/explorer.h"

struct ported {
	const struct explorer *e;
	/* the states with which the run began; NULL: this is not an amd64 recording on arm64 */
	uint64_t *left;
	bool is_possible; /* amd64 could leave all that was read so far */
};

void ported_begin(struct ported *p, const struct explorer *e, const uint64_t *before);
void ported_end(struct ported *p);
/* Follows the next decision of the run. True: on amd64 the run would not have come to this read, or
 * would have found only one value. */
bool ported_step(struct ported *p, const struct run_decision *d);

#endif
