/* Explores the crashes of a program whose files were followed (--files): runs recovery on folders
 * that a crash can leave. For persistent memory, crash_explore() does that. */
#ifndef CRASH_FILES_FILES_EXPLORE_H
#define CRASH_FILES_FILES_EXPLORE_H

#include "crash/findings/exploration.h"
#include "model/files.h"

int files_explore(const struct plan *p, const struct crash_options *o, struct crash_result *r,
		  struct error *err);

/* One state again. */
struct files_replay {
	const char *state; /* as for --replay */
	/* where its folder is put, which must not be there yet, or be empty; NULL: nowhere */
	const char *keep;
	/* called for each change that the state loses; NULL: not wanted. place: an address; of a
	 * name or a size, that of its file; 0: a name is removed */
	void (*lost)(enum files_item_kind kind, uint64_t place, const struct trace_site *site,
		     void *arg);
	/* Called with how recovery ended, and what a dump may print. */
	void (*tell)(const struct verdict *v, const struct allowed *allowed,
		     const struct dump_texts *texts, void *arg);
	void *arg;
};
/* Makes the folder of a state at the path `folder`, where nothing may be yet, or an empty
 * folder. */
int files_put_state(const struct plan *p, const struct crash_options *o, const char *state,
		    const char *folder, struct error *err);
/* Runs recovery where nothing is lost: at the beginning, at the failure points 1, 2, 4, 8…, and at
 * the end. tell() gets each verdict; it ends that by giving 1. */
int files_run_clean(const struct plan *p, const struct crash_options *o,
		    int (*tell)(const struct verdict *v, bool is_end, void *arg), void *arg,
		    struct error *err);
/* Does the text have the form of a state of files, such as 12:n3=0,s2=1? */
bool files_state_is_text(const char *text);
/* Runs recovery on one state again. -1: there is no such state, or recovery cannot be run. */
int files_replay(const struct plan *p, const struct crash_options *o, const struct files_replay *f,
		 struct error *err);

#endif
