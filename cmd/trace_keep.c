/* Keeps a trace that was recorded into a scratch folder. That it cannot be kept is told, but changes no status: the report is there. */
#include "cmd/trace_keep.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "session/scratch.h"

void trace_keep(const char *trace, const char *kept, enum recorded recorded, bool is_found)
{
	if (recorded == RECORDED_WELL && !is_found)
		return;
	if (copy_file(trace, kept) < 0)
		warn("cannot keep the trace as %s: %s", kept, strerror(errno));
	else if (recorded == RECORDED_STOPPED)
		warn("pmend was told to end; the trace is kept as %s", kept);
	else if (recorded == RECORDED_FAILURE)
		warn("the trace of the program, which failed, is kept as %s", kept);
}
