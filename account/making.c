/* Walks to a failure point again to see what is there: a file without bytes, or one without
 * content. Where a file was made before it was mapped, the trace says in META events. */
#include "account/making.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/states/walk.h"
#include "util/str.h"

static bool is_about_making(const struct crash_bug *b)
{
	return strcmp(b->kind, "recovery-failure") == 0 && b->lost.n == 0 && b->survived.n == 0 &&
	       b->places.n == 0 && !b->is_clean && !b->torn && !b->message &&
	       !b->acknowledged.seq && !b->allocation.seq;
}

/* The pool, or else the newest file that the program has made; 0: there is none. */
static uint64_t made_file(const struct walk *w, const struct plan *p)
{
	uint64_t found = 0;

	for (size_t i = 1; i < w->image.files.n; i++) {
		const struct crash_file *f = &w->image.files.at[i];

		if (f->path && f->exists && !plan_is_initial(p, i) && found != plan_pool_file(p))
			found = i;
	}
	return found;
}

static bool is_zero(const struct crash_file *f)
{
	for (uint64_t i = 0; i < f->room && i < f->size_bytes; i++)
		if (!(f->touched[i / IMAGE_PAGE_BYTES / 64] >> i / IMAGE_PAGE_BYTES % 64 & 1))
			i += IMAGE_PAGE_BYTES - 1;
		else if (f->bytes[i])
			return false;
	return true;
}

static char *describe(const struct crash_file *f)
{
	const char *name = str_base_name(f->path);

	if (f->size_bytes == 0)
		return xasprintf("%s exists and is empty (0 bytes)", name);
	return xasprintf("%s has its size (%" PRIu64 " bytes) and %s", name, f->size_bytes,
			 is_zero(f) ? "is all zero"
				    : "what was written to it, but is not complete");
}

/* Finds META created=FILE and resized=FILE, whose sites are those of the calls. */
static void find_calls(struct making *m, const struct plan *p, uint64_t file)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;
	char created[40], resized[40];

	snprintf(created, sizeof created, "created=%" PRIu64, file);
	snprintf(resized, sizeof resized, "resized=%" PRIu64, file);
	while (trace_next(t, &ev) && !(ev.kind == PMT_FILE && ev.arg[0] == file)) {
		if (ev.kind != PMT_META || !ev.site)
			continue;
		if (ev.data_len == strlen(created) && memcmp(ev.data, created, ev.data_len) == 0)
			m->created = (struct crash_store){ ev.seq, ev.site->id };
		if (ev.data_len == strlen(resized) && memcmp(ev.data, resized, ev.data_len) == 0)
			m->resized = (struct crash_store){ ev.seq, ev.site->id };
	}
	trace_close(t);
}

bool making_find(struct making *m, const struct plan *p, unsigned stops, const struct crash_bug *b)
{
	uint64_t file;
	struct walk w;

	*m = (struct making){ 0 };
	if (!is_about_making(b))
		return false;
	walk_init(&w, p, stops);
	while (walk_next(&w) && w.point < b->point)
		;
	file = w.point == b->point ? made_file(&w, p) : 0;
	if (file) {
		m->state = describe(image_file(&w.image, file));
		find_calls(m, p, file);
	}
	walk_release(&w);
	return file != 0;
}

void making_release(struct making *m)
{
	free(m->state);
}
