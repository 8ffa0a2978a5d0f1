/* Applies write(2) to a file in the page cache. The kernel locks a page while it copies to it and
 * while it writes it back, so a sector shows all of a call or nothing. (Not modelled: a device that
 * reads a page while a later call copies to it. The kernel waits for the device only for some of
 * them: "stable pages".) */
#include "model/internal.h"

/* The range of the call: [from, to). */
struct written {
	uint64_t from, to;
	uint32_t thread;
};

static bool is_of(const struct written *w, const struct line *l, const struct store *s)
{
	const uint64_t addr = l->addr + s->at;

	return s->kind == PMT_STORE_SYS && s->thread == w->thread && addr >= w->from &&
	       addr + s->size_bytes <= w->to;
}

/* Counts the stores that describe the write(2) call in this line. The recorder writes one store per
 * 64 bytes; the lines of the platform may be longer. */
static uint32_t stores_told(const struct written *w, const struct line *l, uint32_t line_bytes)
{
	const uint64_t from = w->from > l->addr ? w->from : l->addr, end = l->addr + line_bytes,
		       to = w->to < end ? w->to : end;

	return (uint32_t)((to - 1) / PMT_LINE_BYTES - from / PMT_LINE_BYTES + 1);
}

/* Joins the newest stores of the line, those of the call, into one unit. */
static void glue_stores_of_call(const struct written *w, struct line *l, uint32_t line_bytes)
{
	const uint32_t n = stores_told(w, l, line_bytes);

	for (uint32_t i = 1; i <= n; i++)
		if (i > l->nstores || !is_of(w, l, &l->stores[l->nstores - i]))
			return;
	l->stores[l->nstores - 1].unit_bytes = 0;
	for (uint32_t i = l->nstores - n; i + 1 < l->nstores; i++)
		store_glue(l->stores, i, l->nstores);
}

void step_write(struct model *m, const struct thread *t, const struct trace_event *ev)
{
	const struct written w = { ev->addr, ev->addr + ev->arg[0], t->index };
	struct line_walk walk;
	struct line *l;

	if (!m->platform->is_page_cache || w.to == w.from)
		return;
	line_walk_init(&walk, m, ev->addr, ev->arg[0]);
	while ((l = line_walk_next(&walk)))
		glue_stores_of_call(&w, l, m->platform->line_bytes);
	line_walk_release(&walk);
}
