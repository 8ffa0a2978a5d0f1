/* Does what annotations (include/pmend.h) request in a recovery run: regions of interest, reads
 * that do not count, and the end of recovery. This code runs as part of the program, not in a
 * signal handler. */
#include <stdio.h>

#include "internal.h"
#include "pmend.h"

__attribute__((visibility("default"))) uint64_t
pmend_rt_annotate(uint64_t request, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	if (request == PMEND_REQ_IN_RECOVERY)
		return 1;
	if (!g_region)
		return 0;
	switch (request) {
	case PMEND_REQ_ROI_BEGIN:
		g_region->has_roi = 1;
		__atomic_fetch_add(&g_region->roi_depth, 1, __ATOMIC_RELAXED);
		break;
	case PMEND_REQ_ROI_END:
		__atomic_fetch_sub(&g_region->roi_depth, 1, __ATOMIC_RELAXED);
		break;
	case PMEND_REQ_SKIP_CHECK_BEGIN: t_self.skip_depth++; break;
	case PMEND_REQ_SKIP_CHECK_END: t_self.skip_depth--; break;
	case PMEND_REQ_DONE:
		fflush(NULL); /* what the program has printed so far counts */
		g_region->is_done = 1;
		CALL1(SYS_exit_group, 0);
		break;
	default: break; /* requests that only the recorder answers */
	}
	return 0;
}
