/* The present result of all FILE, SIZE, FALLOCATE, RENAME, META and INCOMPLETE events. For trace/
 * only. */
#ifndef TRACE_FILES_H
#define TRACE_FILES_H

#include "trace/trace.h"
#include "util/vec.h"

struct files {
	VEC(struct trace_file) list; /* by number; path is NULL where none is known */
	VEC(const char *) meta;      /* "key=value", in the order of the events */
	const char *unseen;          /* what the recorder could not see; NULL: nothing */
};

void files_note(struct files *f, struct arena *arena, const struct trace_event *ev);
const struct trace_file *files_find(const struct files *f, uint64_t file);
/* 0: the newest; NULL: there are not so many */
const char *files_meta(const struct files *f, const char *key, size_t nth);
void files_release(struct files *f);

#endif
