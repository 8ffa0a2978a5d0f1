/* Shows a recording while it runs. */
#ifndef CMD_RECORD_PROGRESS_H
#define CMD_RECORD_PROGRESS_H

#include "cmd/talk/progress.h"
#include "record/recorder.h"

/* Makes the recording show its progress. is_asked: --progress; is_quiet: show nothing. */
void record_progress_begin(struct progress *p, struct recording *r, bool is_asked, bool is_quiet);

#endif
