/* Collects what the FILE, SIZE, FALLOCATE, RENAME, META and INCOMPLETE events that were read so far
 * say: paths and sizes of PM files, and facts about the recording. Only the files of trace/ use
 * this header. */
#ifndef TRACE_FILES_H
#define TRACE_FILES_H

#include "trace/trace.h"
#include "util/vec.h"

struct files {
	/* by file number; path is NULL for a number without a FILE event */
	VEC(struct trace_file) list;
	VEC(const char *) meta; /* "key=value", in the order of the events */
	/* what the recorder could not see; NULL if it saw everything */
	const char *unseen;
};

void files_note(struct files *f, struct arena *arena, const struct trace_event *ev);
const struct trace_file *files_find(const struct files *f, uint64_t file);
/* Gives the value of a META key; nth 0 is the newest value, 1 the one before it. NULL if there are
 * not so many. */
const char *files_meta(const struct files *f, const char *key, size_t nth);
void files_release(struct files *f);

#endif
