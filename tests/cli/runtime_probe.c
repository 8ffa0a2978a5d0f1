/* Stands for the runtime that a native run is preloaded with: prints the annotations that reach it. */
#include <stdint.h>
#include <stdio.h>

#include "pmend.h"

uint64_t pmend_rt_annotate(uint64_t request, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (request == PMEND_REQ_OP_BEGIN || request == PMEND_REQ_OP_END)
		printf("%u %s\n", (unsigned)(request - PMEND_REQUEST_BASE), (const char *)(uintptr_t)a);
	else
		printf("%u %u %u %u %u\n", (unsigned)(request - PMEND_REQUEST_BASE), (unsigned)a, (unsigned)b, (unsigned)c, (unsigned)d);
	return request == PMEND_REQ_IN_RECOVERY;
}
