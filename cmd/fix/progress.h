/* What the user sees of a repair while it runs, and how it is interrupted. */
#ifndef CMD_FIX_PROGRESS_H
#define CMD_FIX_PROGRESS_H

#include "cmd/talk/progress.h"
#include "repair/plan/watch.h"

struct fix_progress {
	struct repair_watch watch;
	/* inside */
	struct progress line;
	const char *what; /* the part that was told last: a constant */
	bool is_wanted;
};

void fix_progress_begin(struct fix_progress *p, bool is_asked, bool is_quiet);
/* Between two parts: the line goes. Was the part interrupted? The next one begins anew. */
bool fix_progress_pause(struct fix_progress *p);
void fix_progress_end(struct fix_progress *p); /* an interrupt ends the program again */

#endif
