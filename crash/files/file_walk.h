/* Walks a trace that was recorded with --files from failure point to failure point: at each stop,
 * the model is that of a crash just before the event at hand (or after the last one). What a crash
 * can leave only grows until something is synced, or a rename ties two names: a failure point is
 * before each of these, before an acknowledgement, and at the end. Memory is durable at flushes and
 * fences, so there is one before these, too. */
#ifndef CRASH_FILES_FILE_WALK_H
#define CRASH_FILES_FILE_WALK_H

#include "crash/search/surroundings.h"
#include "crash/states/plan.h"
#include "model/files.h"
#include "model/model.h"
#include "trace/followed.h"

enum file_stops {
	FILE_POINTS = 1,     /* failure points */
	FILE_BOUNDARIES = 2, /* where operations begin and end */
};

struct file_event {
	struct crash_store at;
	uint32_t file; /* of a sync; 0: of everything */
};

struct file_walk {
	/* where it is: valid after file_walk_next() */
	uint64_t point; /* number of the failure point, from 1 */
	uint64_t seq;   /* the crash comes before this event; that after the last one at the end */
	const struct trace_site *site; /* of that event, NULL at the end */
	bool is_over;
	struct files *model;
	/* of files below the folder whose lines are flushed; what is durable of them is in the
	 * model of files */
	struct model *memory;
	VEC(struct file_event) acknowledgements, syncs; /* before the crash, in order */
	struct crash_store last;                        /* what changed last; seq 0: nothing */

	/* inside */
	const struct plan *plan;
	struct trace *trace;
	const followed_files *followed;
	followed_files made;   /* by number of file: the program made it */
	followed_files inside; /* it lies below a folder of --files */
	struct trace_event ev;
	unsigned stops;
	bool has_event, is_changed;
	int roi_depth, skip_depth;
};

/* Begins a walk. Its model has what the folder held when the recording began. */
void file_walk_init(struct file_walk *w, const struct plan *p, const followed_files *followed,
		    unsigned stops);
void file_walk_release(struct file_walk *w);
bool file_walk_next(struct file_walk *w); /* false: there are no more */

/* Does the file lie below the folder, and does the program use it as memory? */
bool file_walk_is_memory(const struct file_walk *w, uint64_t file);
/* Does the event change what a crash can leave of files below the folder? */
bool file_walk_is_change(const struct file_walk *w, const struct trace_event *ev);

#endif
