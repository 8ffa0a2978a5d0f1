/* Keeps the array of a line's stores. They move to a larger or smaller array as stores come and go;
 * arrays are reused by size. */
#include "model/internal.h"

#include <string.h>

/* Gets an array. Splits an unused larger one before it asks for memory. */
struct store *stores_get(struct model *m, unsigned room)
{
	unsigned from = room;
	struct store *s;

	while (from < m->nrooms && !m->stores[from].unused)
		from++;
	if (from >= m->nrooms) {
		m->nrooms = m->nrooms > room ? m->nrooms : room + 1;
		return pool_get(&m->stores[room], &m->arena);
	}
	s = pool_get(&m->stores[from], &m->arena);
	while (from-- > room)
		pool_put(&m->stores[from], s + STORES_ROOM(from));
	return s;
}

/* Moves the line's stores to another array, which has room for STORES_ROOM(room) stores. */
void stores_move(struct model *m, struct line *l, uint8_t room)
{
	struct store *to = stores_get(m, room);

	if (l->nstores)
		memcpy(to, l->stores, l->nstores * sizeof *to);
	pool_put(&m->stores[l->room], l->stores);
	l->stores = to;
	l->room = room;
}

/* Frees the bytes that a store keeps outside of the array. */
void store_release(struct model *m, const struct store *s)
{
	if (s->size_bytes > STORE_SMALL_BYTES)
		pool_put(&m->rests, s->bytes.rest);
}

/* a line with more stores than this is likely to get many again */
#define ROOM_KEPT 3u

/* Sets the number of stores to n. Moves to a smaller array if most of it is empty. */
void line_shrink(struct model *m, struct line *l, uint32_t n)
{
	uint8_t room = l->room;

	m->nstores -= l->nstores - n;
	l->nstores = n;
	while (room > ROOM_KEPT && STORES_ROOM(room) > 4 * n)
		room--;
	if (n && room < l->room)
		stores_move(m, l, room);
}

/* Removes stores without live bytes. is_forgotten: they are not durable, but the states that showed
 * them are no longer offered. */
void line_drop_dead(struct model *m, struct line *l, bool is_forgotten)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nstores; i++) {
		const struct store *s = &l->stores[i];
		struct store *last = n ? &l->stores[n - 1] : NULL;

		if (store_live(s)) {
			l->stores[n++] = *s;
			continue;
		}
		/* A run glued to it now ends with the store before it; the content is the same
		 * without s. */
		if (last && store_is_glued(last) && !store_is_glued(s)) {
			last->flags &= (uint8_t)~STORE_GLUED;
			last->unit_bytes = 0;
		}
		if (!is_forgotten)
			tell_durable(m, s->seq);
		store_release(m, s);
	}
	line_shrink(m, l, n);
}
