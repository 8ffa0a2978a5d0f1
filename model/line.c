/* Changes the stores of one line: adds a new one, or moves those that became durable into the base.
 * internal.h has the invariants of a line. */
#include "model/internal.h"

#include <string.h>

static uint32_t line_limit(const struct model *m, const struct line *l)
{
	uint32_t limit = m->nstores < MODEL_STORES ? m->line_stores : MODEL_LINE_STORES_FEW;

	return limit > l->floor ? limit : l->floor;
}

/* Counts how many epochs back the store's predecessors are. A distance that does not fit is
 * shortened: then more is ordered than certain, so states are missing, but none is invented. */
static uint8_t order_back(const struct thread *t, const struct trace_event *ev)
{
	uint32_t back = t->epoch - t->after;

	return is_release(ev) ? 0 : back < UINT8_MAX ? (uint8_t)back : UINT8_MAX;
}

/* Fills a store. Only writes, because the memory is rarely in the cache and reading would wait for
 * it. */
static void store_fill(struct model *m, struct store *s, const struct thread *t,
		       const struct trace_event *ev, uint32_t skip, uint32_t size_bytes)
{
	s->site = ev->site;
	s->seq = ev->seq;
	s->thread = t->index;
	s->at = (uint16_t)((ev->addr + skip) & (m->platform->line_bytes - 1));
	s->size_bytes = (uint8_t)size_bytes;
	s->kind = (uint8_t)ev->kind;
	s->live_few = 0xff;
	s->flags = platform_is_unordered(m->platform, ev) || is_late(m) ? STORE_UNORDERED : 0;
	s->unit_bytes = store_unit_bytes(m, ev);
	s->epoch = t->epoch;
	s->back = is_partial_order(m) ? order_back(t, ev) : 0;
	if (size_bytes == STORE_SMALL_BYTES) {
		memcpy(s->bytes.few, ev->data + skip, STORE_SMALL_BYTES);
	} else if (size_bytes < STORE_SMALL_BYTES) {
		memcpy(s->bytes.few, ev->data + skip, size_bytes);
		s->live_few = (uint8_t)low_bits(size_bytes);
	} else {
		s->bytes.rest = pool_get(&m->rests, &m->arena);
		s->bytes.rest->live = low_bits(size_bytes);
		memcpy(s->bytes.rest->bytes, ev->data + skip, size_bytes);
	}
}

void line_add_store(struct model *m, struct line *l, const struct thread *t,
		    const struct trace_event *ev, uint32_t skip, uint32_t size_bytes)
{
	if (l->nstores >= line_limit(m, l))
		line_coalesce(m, l);
	if (l->nstores == STORES_ROOM(l->room)) {
		if (l->room + 1u == STORES_ROOMS)
			BUG("%u stores in a line", l->nstores);
		stores_move(m, l, l->room + 1);
	}
	store_fill(m, &l->stores[l->nstores++], t, ev, skip, size_bytes);
	m->nstores++;
}

/* Copies a store into the base; older stores to the same bytes, up to `end`, can no longer be seen
 * there (invariant 3). True if one of them lost a byte. */
static bool store_settle(struct line *l, const struct store *s, const struct store *end)
{
	const uint8_t *bytes = store_bytes(s);
	uint64_t live = store_live(s);
	bool is_older_hit = false;

	if (live == low_bits(s->size_bytes))
		memcpy(l->base + s->at, bytes, s->size_bytes);
	else
		for (uint32_t i = 0; i < s->size_bytes; i++)
			if (live >> i & 1)
				l->base[s->at + i] = bytes[i];
	l->is_newer = true;
	for (struct store *o = l->stores; o < end; o++) {
		is_older_hit |= (store_live(o) & store_covered(o, s)) != 0;
		store_set_live(o, store_live(o) & ~store_covered(o, s));
	}
	return is_older_hit;
}

static bool is_reached(const struct store *s, uint64_t upto, const struct thread *unordered_of)
{
	return store_is_unordered(s) ? unordered_of && s->thread == unordered_of->index
				     : s->seq <= upto;
}

/* Asks whether the line's base must be kept up to date. If all stores of the line become durable,
 * the line is removed, and nobody sees its base, unless the image takes it. */
static bool is_base_needed(const struct model *m, const struct line *l, uint64_t upto,
			   const struct thread *unordered_of)
{
	if (m->image.write)
		return true;
	for (const struct store *s = l->stores; s < line_end(l); s++)
		if (!is_reached(s, upto, unordered_of))
			return true;
	return false;
}

void line_persist(struct model *m, struct line *l, uint64_t upto, const struct thread *unordered_of)
{
	const bool is_settling = is_base_needed(m, l, upto, unordered_of);
	bool is_older_hit = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nstores; i++) {
		const struct store *s = &l->stores[i];

		if (is_reached(s, upto, unordered_of)) {
			is_older_hit |= is_settling && store_settle(l, s, &l->stores[n]);
			tell_durable(m, s->seq);
			store_release(m, s);
		} else {
			l->stores[n++] = *s;
		}
	}
	line_shrink(m, l, n);
	if (is_older_hit)
		line_drop_dead(m, l, false);
	if (!l->nstores)
		line_remove(m, l);
}
