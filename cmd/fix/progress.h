/* Shows a repair while it runs, and handles interrupts. */
#ifndef CMD_FIX_PROGRESS_H
#define CMD_FIX_PROGRESS_H

#include "cmd/talk/progress.h"
#include "repair/plan/watch.h"

struct fix_progress {
	struct repair_watch watch;
	/* private */
	struct progress line;
	const char *what; /* the part that was shown last: a constant */
	bool is_wanted;
};

void fix_progress_begin(struct fix_progress *p, bool is_asked, bool is_quiet);
/* Removes the line between two parts. Was the part interrupted? The next part starts without an
 * interrupt. */
bool fix_progress_pause(struct fix_progress *p);
/* Ends the showing; from then on, an interrupt ends the program as usual. */
void fix_progress_end(struct fix_progress *p);

#endif
