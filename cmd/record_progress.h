/* What the user sees of a recording while it runs. */
#ifndef CMD_RECORD_PROGRESS_H
#define CMD_RECORD_PROGRESS_H

#include "cmd/talk/progress.h"
#include "record/recorder.h"

/* Has the recording tell how far it is. is_asked: --progress; is_quiet: say nothing. */
void record_progress_begin(struct progress *p, struct recording *r, bool is_asked, bool is_quiet);

#endif
