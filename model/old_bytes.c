/* Applies --old-bytes: bytes that were in the memory before the program got it. They are durable at
 * once; other bytes of the same line may still be lost. */
#include "model/internal.h"

/* Sets bytes that are there whatever a crash loses. Older stores to them stay, so that questions
 * for unflushed stores find them, but they show the same bytes. */
static void line_put_old(struct line *l, uint32_t from, uint32_t to)
{
	pmt_old_bytes(l->base + from, PMT_OFFSET(l->addr + from), to - from);
	l->is_newer = true;
	for (struct store *s = l->stores; s < line_end(l); s++) {
		uint8_t *bytes =
			s->size_bytes <= STORE_SMALL_BYTES ? s->bytes.few : s->bytes.rest->bytes;
		const uint32_t end = (uint32_t)s->at + s->size_bytes,
			       first = from > s->at ? from : s->at, last = to < end ? to : end;

		if (first < last)
			pmt_old_bytes(bytes + (first - s->at), PMT_OFFSET(l->addr + first),
				      last - first);
	}
}

void step_old(struct model *m, const struct trace_event *ev)
{
	const uint64_t len_bytes = trace_old_len(ev), end = ev->addr + len_bytes;
	struct line_walk walk;
	struct line *l;

	line_walk_init(&walk, m, ev->addr, len_bytes);
	while ((l = line_walk_next(&walk))) {
		const uint64_t from = ev->addr > l->addr ? ev->addr - l->addr : 0,
			       to = end - l->addr;

		line_put_old(l, (uint32_t)from,
			     to < m->platform->line_bytes ? (uint32_t)to : m->platform->line_bytes);
	}
	line_walk_release(&walk);
}
