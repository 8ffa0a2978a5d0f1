/* Shows how many events a recording has, and how large its trace is. */
#include "cmd/record_progress.h"

#include <inttypes.h>

static void show_progress(uint64_t nevents, uint64_t len_bytes, bool is_over, void *arg)
{
	if (is_over)
		progress_clear(arg);
	else
		progress_tell(arg, "recording: %" PRIu64 " events, %.1f MB", nevents,
			      (double)len_bytes / 1e6);
}

void record_progress_begin(struct progress *p, struct recording *r, bool is_asked, bool is_quiet)
{
	progress_begin(p, is_asked);
	if (is_quiet && !is_asked)
		return;
	r->on_progress = show_progress;
	r->progress_arg = p;
}
