/* Searches a trace for files that held data before the run, and for a first store. It stops when it
 * has found both, which is early in most traces. */
#include "pools/data_before.h"

#include <stdlib.h>

#include "trace/followed.h"
#include "trace/header.h"
#include "trace/trace.h"
#include "util/alloc.h"

struct beginning {
	uint32_t nfiles;
	bool has_store;
	char *held; /* the first file that had data; NULL if none had */
};

static bool has_data(const struct trace_event *ev)
{
	for (uint32_t i = 0; i < ev->data_len; i++)
		if (ev->data[i])
			return true;
	return false;
}

static void search_trace(struct beginning *b, struct trace *t, uint32_t nfiles)
{
	followed_files followed = followed_of(t);
	struct trace_event ev;

	while ((b->nfiles < nfiles || !b->has_store) && trace_next(t, &ev)) {
		const struct trace_file *f =
			ev.kind == PMT_CONTENT ? trace_file(t, PMT_FILE(ev.addr)) : NULL;

		b->nfiles += ev.kind == PMT_FILE;
		b->has_store |= trace_is_store(ev.kind);
		if (f && !(f->flags & (PMT_FILE_CREATED | PMT_FILE_MEMORY)) && !b->held &&
		    !followed_has(&followed, PMT_FILE(ev.addr)) && has_data(&ev))
			b->held = xstrdup(f->path);
	}
	vec_release(&followed);
}

void data_before_say(const struct notes *notes, const char *trace, bool wants_note)
{
	struct beginning b = { 0 };
	struct pmt_header h;
	struct error ignored;
	struct trace *t;

	if (header_read(&h, trace, &ignored) < 0 || trace_open(&t, trace, &ignored) < 0)
		return;
	search_trace(&b, t, h.nfiles);
	if (!b.has_store && !trace_damage(t) && h.nfiles > 0)
		notes_say(
			notes,
			"the program stored nothing to persistent memory, so there is nothing to check%s",
			b.held ? "; its files held data before" : "");
	if (b.held && wants_note)
		notes_say(notes, "%s held data before the run; --fresh starts without it", b.held);
	free(b.held);
	trace_close(t);
}
