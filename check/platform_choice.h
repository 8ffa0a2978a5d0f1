/* On which platform a trace is judged. The trace is open; each function reads it by a cursor of its
 * own. */
#ifndef CHECK_PLATFORM_CHOICE_H
#define CHECK_PLATFORM_CHOICE_H

#include "model/model.h"
#include "trace/trace.h"
#include "util/error.h"
#include "util/notes.h"

/* The platform that a trace was recorded for; NULL if it does not say. */
const struct platform *platform_recorded(const struct trace *t, struct error *err);

/* Does it make sense to judge the trace's instructions on this platform without being asked for it
 * by name? */
bool platform_is_own(const struct trace *t, const struct platform *p);

/* Would the program have done the same on this platform? It is the recorded one's own answer;
 * x86-adr, arm64 and eadr serve each other; between those and msync, libpmem decides by the file
 * and by PMEM_IS_PMEM_FORCE what it does. A recording of amd64 is judged on arm64 as its port would
 * be; not the other way round. -1 if not, with the reason in err. */
int platform_serves(const struct trace *t, const struct platform *recorded,
		    const struct platform *asked, struct error *err);

/* How a platform was chosen that nobody asked for, neither now nor when the trace was recorded. */
struct platform_choice {
	/* by what the program does: msync, because it syncs its files and flushes nothing */
	bool is_chosen;
	/* one line for the user, malloc'd: that it was, or why msync was not; NULL: nothing to
	 * say */
	char *words;
};
/* and frees the words; notes may be NULL */
void platform_choice_say(struct platform_choice *c, const struct notes *notes);

/* The platform to judge a trace on: the asked one if the trace serves it. If asked is NULL, the
 * recorded one, or the one that the program itself shows. NULL if none will do. how may be NULL. */
const struct platform *platform_choose(const struct trace *t, const struct platform *asked,
				       struct platform_choice *how, struct error *err);

#endif
