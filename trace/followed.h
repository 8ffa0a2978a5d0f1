/* Followed files: those that a trace recorded with --files contains. The program makes them durable
 * by calls such as fsync(), not by flushing cache lines. */
#ifndef TRACE_FOLLOWED_H
#define TRACE_FOLLOWED_H

#include "trace/trace.h"
#include "util/vec.h"

#define FOLLOWED_NOT_YET \
	"this does not follow files yet (--files, {dir}): 'pmend crash' and 'pmend test' do; for crashes of the mapped files alone, record without --files"

/* Asks whether the trace was recorded with --files. */
bool followed_is_any(const struct trace *t);

/* For each file, by its number: it is synced by calls. False for files that are memory: their lines
 * were flushed by instructions, or they were mapped with MAP_SYNC. */
typedef VEC(bool) followed_files;
followed_files followed_of(const struct trace *t);
static inline bool followed_has(const followed_files *f, uint64_t file)
{
	return file < f->n && f->at[file];
}

#endif
