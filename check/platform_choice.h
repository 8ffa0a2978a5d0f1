/* Chooses the platform on which a trace is judged. The trace is open; each function reads it with
 * its own cursor. */
#ifndef CHECK_PLATFORM_CHOICE_H
#define CHECK_PLATFORM_CHOICE_H

#include "model/model.h"
#include "trace/trace.h"
#include "util/error.h"
#include "util/notes.h"

/* Gives the platform that a trace was recorded for; NULL if it does not say. */
const struct platform *platform_recorded(const struct trace *t, struct error *err);

/* Is it sensible to judge the trace on this platform if the user did not name it? */
bool platform_is_own(const struct trace *t, const struct platform *p);

/* Would the program have done the same on this platform? Yes for the recorded one; x86-adr, arm64
 * and eadr serve each other; between those and msync, libpmem chooses what to do by the file and by
 * PMEM_IS_PMEM_FORCE. A recording of amd64 can be judged on arm64, as its port would behave, but
 * not the reverse. -1 if not, with the reason in err. */
int platform_serves(const struct trace *t, const struct platform *recorded,
		    const struct platform *asked, struct error *err);

/* How a platform was chosen that the user did not name, neither now nor for the recording. */
struct platform_choice {
	/* by what the program does: msync, because it syncs its files and flushes nothing */
	bool is_chosen;
	/* one line for the user, malloc'd: that msync was chosen, or why it was not; NULL: nothing
	 * to say */
	char *words;
};
/* Prints how the platform was chosen, and frees the words for it; notes may be NULL. */
void platform_choice_say(struct platform_choice *c, const struct notes *notes);

/* Chooses the platform for a trace: the asked one if the trace serves it; if asked is NULL, the
 * recorded one, or the one that the program's behaviour shows. NULL if there is none. how may be
 * NULL. */
const struct platform *platform_choose(const struct trace *t, const struct platform *asked,
				       struct platform_choice *how, struct error *err);

#endif
