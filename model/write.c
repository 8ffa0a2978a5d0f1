/* write(2) to a file in the page cache. The kernel locks a page while it copies to it, and while it hands it to the device, so that a sector shows all of a call or nothing.
 * A page that was dirty before may be on its way to the device during the copy: then what the call wrote tears like any store. */
#include "model/internal.h"

/* What the call wrote: [from, to). */
struct written {
	uint64_t from, to;
	uint32_t thread;
};

/* The recorder tells of a call by a store for each cache line. */
static uint32_t stores_told(const struct written *w, uint64_t from, uint64_t to)
{
	if (from < w->from)
		from = w->from;
	if (to > w->to)
		to = w->to;
	return from < to ? (uint32_t)((to - 1) / PMT_LINE_BYTES - from / PMT_LINE_BYTES + 1) : 0;
}

static bool is_written_only(const struct written *w, const struct line *l, uint32_t line_bytes)
{
	for (const struct store *s = l->stores; s < line_end(l); s++) {
		const uint64_t addr = l->addr + s->at;

		if (s->kind != PMT_STORE_SYS || s->thread != w->thread || addr < w->from || addr + s->size_bytes > w->to)
			return false;
	}
	return l->nstores == stores_told(w, l->addr, l->addr + line_bytes);
}

static bool was_clean(const struct model *m, const struct written *w, uint64_t page)
{
	bool is_clean = true;
	struct line_walk walk;
	const struct line *l;

	line_walk_init(&walk, m, page, PMT_PAGE_BYTES);
	while (is_clean && (l = line_walk_next(&walk)))
		is_clean = is_written_only(w, l, m->platform->line_bytes);
	line_walk_release(&walk);
	return is_clean;
}

static void glue_page(const struct model *m, uint64_t page)
{
	struct line_walk walk;
	struct line *l;

	line_walk_init(&walk, m, page, PMT_PAGE_BYTES);
	while ((l = line_walk_next(&walk))) {
		l->stores[l->nstores - 1].unit_bytes = 0;
		for (uint32_t i = 0; i + 1 < l->nstores; i++)
			store_glue(l->stores, i, l->nstores);
	}
	line_walk_release(&walk);
}

void step_write(struct model *m, const struct thread *t, const struct trace_event *ev)
{
	const struct written w = { ev->addr, ev->addr + ev->arg[0], t->index };

	if (!m->platform->is_page_cache)
		return;
	for (uint64_t page = w.from / PMT_PAGE_BYTES * PMT_PAGE_BYTES; page < w.to; page += PMT_PAGE_BYTES)
		if (was_clean(m, &w, page))
			glue_page(m, page);
}
