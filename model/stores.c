/* The array of stores of a line. It moves to a larger or smaller one as stores come and go; arrays
 * are reused by size. */
#include "model/internal.h"

#include <string.h>

/* A larger array that nobody uses is cut before memory is asked for: no room has more than it once
 * needed at a time. */
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

/* Moves the stores to an array of another room. */
void stores_move(struct model *m, struct line *l, uint8_t room)
{
	struct store *to = stores_get(m, room);

	if (l->nstores)
		memcpy(to, l->stores, l->nstores * sizeof *to);
	pool_put(&m->stores[l->room], l->stores);
	l->stores = to;
	l->room = room;
}

/* What it holds besides its place in the array. */
void store_release(struct model *m, const struct store *s)
{
	if (s->size_bytes > STORE_SMALL_BYTES)
		pool_put(&m->rests, s->bytes.rest);
}

/* A line that was stored to more often than this is likely to be again. */
#define ROOM_KEPT 3u

/* n stores are left. Room goes back when most of it is empty. */
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

/* is_forgotten: not durable, but the states that showed them are no longer offered. */
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
		/* What was glued to it now ends the run: with or without s, the content is the
		 * same. */
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
