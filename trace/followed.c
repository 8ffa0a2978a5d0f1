/* Finds out which files of a trace are files to the program, and which are memory: those whose
 * lines it flushes. A file is one or the other for all of the trace. */
#include "trace/followed.h"

#include <stdlib.h>

bool followed_is_any(const struct trace *trace)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	bool is_any;

	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	is_any = trace_meta(t, "files") != NULL;
	trace_close(t);
	return is_any;
}

static void set(followed_files *f, uint64_t file, bool is_followed)
{
	if (file > ((uint64_t)1 << (64 - PMT_OFFSET_BITS)) - 1)
		return;
	while (f->n <= file)
		*vec_add(f) = false;
	f->at[file] = is_followed;
}

followed_files followed_of(const struct trace *trace)
{
	const char *mapped;
	struct trace *t = trace_cursor(trace);
	followed_files f = { 0 };
	struct trace_event ev;

	if (!followed_is_any(trace)) {
		trace_close(t);
		return f;
	}
	while (trace_next(t, &ev)) {
		if (ev.kind == PMT_FILE)
			set(&f, ev.arg[0],
			    (ev.arg[2] & PMT_FILE_FOLLOWED) && !(ev.arg[2] & PMT_FILE_DEVICE));
		else if (trace_is_flush(ev.kind) || ev.kind == PMT_NOTE_FLUSH)
			set(&f, PMT_FILE(ev.addr), false);
	}
	for (size_t i = 0; (mapped = trace_meta_older(t, "map_sync_file", i)); i++)
		set(&f, strtoull(mapped, NULL, 10), false);
	trace_close(t);
	return f;
}
