/* Which reads of a run are unsafe only on arm64? An amd64 recording, analysed for arm64, has states
 * in which a line shows a later store without an earlier one. A read that only such a state makes
 * unsafe is a porting finding. */
#ifndef CRASH_RACES_PORTED_H
#define CRASH_RACES_PORTED_H

#include "crash/search/explorer.h"

struct ported {
	const struct explorer *e;
	/* of the states that the run began with; NULL: not an amd64 recording on arm64 */
	uint64_t *left;
	bool is_possible; /* on amd64, too: what was read so far */
};

void ported_begin(struct ported *p, const struct explorer *e, const uint64_t *before);
void ported_end(struct ported *p);
/* The next decision of the run. Gives whether on amd64 it would not have come to that, or would
 * have found one value only. */
bool ported_step(struct ported *p, const struct run_decision *d);

#endif
