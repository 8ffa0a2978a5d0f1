/* Lines: finding them, adding stores, making stores durable. internal.h has the invariants. */
#include "model/internal.h"

#include <string.h>

/* ---- pools ---- */

#define POOL_CHUNK 64u
#define POOL_CHUNK_BYTES (16u << 10) /* at most so much at once, or one thing */

void *pool_get(struct model *m, struct pool *p)
{
	void *thing = p->unused;

	if (!thing) {
		size_t n = POOL_CHUNK * p->size_bytes <= POOL_CHUNK_BYTES ? POOL_CHUNK : POOL_CHUNK_BYTES / p->size_bytes;
		char *chunk = arena_alloc(&m->arena, (n ? n : 1) * p->size_bytes);

		for (size_t i = n ? n : 1; i-- > 0;) /* used in the order of addresses */
			pool_put(p, chunk + i * p->size_bytes);
		thing = p->unused;
	}
	p->unused = *(void **)thing;
	return thing;
}

void pool_put(struct pool *p, void *thing)
{
	*(void **)thing = p->unused;
	p->unused = thing;
}

/* A larger array that nobody uses is cut before memory is asked for: no room has more than it once needed at a time. */
static struct store *stores_get(struct model *m, unsigned room)
{
	unsigned from = room;
	struct store *s;

	while (from < m->nrooms && !m->stores[from].unused)
		from++;
	if (from >= m->nrooms) {
		m->nrooms = m->nrooms > room ? m->nrooms : room + 1;
		return pool_get(m, &m->stores[room]);
	}
	s = pool_get(m, &m->stores[from]);
	while (from-- > room)
		pool_put(&m->stores[from], s + STORES_ROOM(from));
	return s;
}

/* ---- the table of lines ---- */

/* The slots of NEIGHBOURS lines side by side are side by side, turned round: programs walk memory, and memory is faster when
 * we walk, too. A search goes on in steps of one more than that, so that all neighbours whose slots are taken move alike. */
#define NEIGHBOURS 64u
#define STEP (NEIGHBOURS + 1)		 /* odd: reaches every slot */
#define STEP_INVERSE 0xfc0fc0fc0fc0fc1u /* modulo 2^64: counts steps */
_Static_assert(STEP * STEP_INVERSE == 1, "an inverse");

static size_t home(const struct model *m, uint64_t addr)
{
	uint64_t number = addr >> m->line_shift, h = number / NEIGHBOURS * 0x9e3779b97f4a7c15u;

	h ^= h >> 32;
	return (h * NEIGHBOURS + (number + (h >> 26)) % NEIGHBOURS) & (m->room - 1);
}

/* How many steps lead from one slot to another. */
static size_t steps(const struct model *m, size_t from, size_t to)
{
	return (to - from) * STEP_INVERSE & (m->room - 1);
}

static size_t slot_find(const struct model *m, uint64_t addr)
{
	size_t i = home(m, addr);

	while (m->slots[i].line && m->slots[i].addr != addr)
		i = (i + STEP) & (m->room - 1);
	return i;
}

struct line *line_find(const struct model *m, uint64_t addr)
{
	return m->nlines ? m->slots[slot_find(m, line_start(m, addr))].line : NULL;
}

static void table_grow(struct model *m)
{
	struct slot *old = m->slots;
	size_t old_room = m->room;

	m->room = old_room ? 2 * old_room : 2 * NEIGHBOURS;
	m->slots = xcalloc(m->room, sizeof *m->slots);
	for (size_t i = 0; i < old_room; i++)
		if (old[i].line)
			m->slots[slot_find(m, old[i].addr)] = old[i];
	free(old);
}

struct line *line_find_or_add(struct model *m, uint64_t addr)
{
	struct line *l;
	size_t i;

	if (2 * (m->nlines + 1) > m->room)
		table_grow(m);
	addr = line_start(m, addr);
	i = slot_find(m, addr);
	if (m->slots[i].line)
		return m->slots[i].line;
	l = pool_get(m, &m->lines);
	m->slots[i] = (struct slot){ addr, l };
	m->nlines++;
	*l = (struct line){ .addr = addr, .stores = stores_get(m, 0) };
	if (m->image.read)
		m->image.read(m->image.arg, addr, l->base, m->platform->line_bytes);
	else
		memset(l->base, 0, m->platform->line_bytes);
	return l;
}

/* Moves later lines of the same chain back, so that no search stops early at the hole. */
static void slot_clear(struct model *m, size_t hole)
{
	size_t i = hole;

	for (;;) {
		i = (i + STEP) & (m->room - 1);
		if (!m->slots[i].line)
			break;
		if (steps(m, home(m, m->slots[i].addr), i) >= steps(m, hole, i)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].line = NULL;
	m->nlines--;
}

static void pending_free(struct model *m, struct pending *p)
{
	if (p->prev)
		p->prev->next = p->next;
	else
		p->thread->pendings = p->next;
	if (p->next)
		p->next->prev = p->prev;
	pool_put(&m->pendings, p);
}

void line_remove(struct model *m, struct line *l)
{
	struct pending *p, *next;

	for (p = l->pendings; p; p = next) {
		next = p->in_line;
		pending_free(m, p);
	}
	if (l->is_newer && m->image.write)
		m->image.write(m->image.arg, l->addr, l->base, m->platform->line_bytes);
	slot_clear(m, slot_find(m, l->addr));
	pool_put(&m->stores[l->room], l->stores);
	pool_put(&m->lines, l);
}

struct pending *line_pending(const struct line *l, const struct thread *t)
{
	struct pending *p = l->pendings;

	while (p && p->thread != t)
		p = p->in_line;
	return p;
}

/* ---- walking a range ---- */

static int line_compare(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void line_walk_init(struct line_walk *w, const struct model *m, uint64_t addr, uint64_t len_bytes)
{
	uint64_t last = line_start(m, len_bytes > UINT64_MAX - addr ? UINT64_MAX : addr + len_bytes - 1);

	*w = (struct line_walk){ .model = m, .addr = line_start(m, addr) };
	if (len_bytes == 0 || m->nlines == 0)
		return;
	w->nleft = (last - w->addr) / m->platform->line_bytes + 1;
	if (w->nleft <= m->room)
		return;
	w->is_long = true;
	w->at = xmalloc(m->nlines * sizeof *w->at);
	for (size_t i = 0; i < m->room; i++)
		if (m->slots[i].line && m->slots[i].addr >= w->addr && m->slots[i].addr <= last)
			w->at[w->n++] = m->slots[i].line;
	qsort(w->at, w->n, sizeof *w->at, line_compare);
}

struct line *line_walk_next(struct line_walk *w)
{
	struct line *l = NULL;

	if (w->is_long)
		return w->i < w->n ? w->at[w->i++] : NULL;
	for (; !l && w->nleft; w->nleft--) {
		l = line_find(w->model, w->addr);
		w->addr += w->model->platform->line_bytes;
	}
	return l;
}

void line_walk_release(struct line_walk *w)
{
	free(w->at);
}

/* ---- stores ---- */

bool model_is_one_access(const struct trace_event *ev)
{
	if (ev->addr / PMT_LINE_BYTES != (ev->addr + ev->size_bytes - 1) / PMT_LINE_BYTES)
		return false;
	return ev->size_bytes <= 8 || (ev->size_bytes <= 16 && ev->kind == PMT_STORE_RMW) ||
	       (ev->size_bytes == 64 && ev->kind == PMT_STORE_NT);
}

static uint32_t line_limit(const struct model *m, const struct line *l)
{
	uint32_t limit = m->nstores < MODEL_STORES ? m->line_stores : MODEL_LINE_STORES_FEW;

	return limit > l->floor ? limit : l->floor;
}

/* Moves the stores to an array of another room. */
static void stores_move(struct model *m, struct line *l, uint8_t room)
{
	struct store *to = stores_get(m, room);

	if (l->nstores)
		memcpy(to, l->stores, l->nstores * sizeof *to);
	pool_put(&m->stores[l->room], l->stores);
	l->stores = to;
	l->room = room;
}

/* The memory is seldom in the cache: it is written and not read, so that nobody waits for it. */
static void store_fill(struct model *m, struct store *s, const struct thread *t, const struct trace_event *ev, uint32_t skip,
		       uint32_t size_bytes)
{
	s->site = ev->site;
	s->seq = ev->seq;
	s->thread = t->index;
	s->at = (uint16_t)((ev->addr + skip) & (m->platform->line_bytes - 1));
	s->size_bytes = (uint8_t)size_bytes;
	s->kind = (uint8_t)ev->kind;
	s->live_few = 0xff;
	s->is_unordered = is_unordered(m, ev);
	s->is_whole = model_is_one_access(ev);
	s->is_glued = false;
	if (size_bytes == STORE_SMALL_BYTES) {
		memcpy(s->bytes.few, ev->data + skip, STORE_SMALL_BYTES);
	} else if (size_bytes < STORE_SMALL_BYTES) {
		memcpy(s->bytes.few, ev->data + skip, size_bytes);
		s->live_few = (uint8_t)low_bits(size_bytes);
	} else {
		s->bytes.rest = pool_get(m, &m->rests);
		s->bytes.rest->live = low_bits(size_bytes);
		memcpy(s->bytes.rest->bytes, ev->data + skip, size_bytes);
	}
}

void line_add_store(struct model *m, struct line *l, const struct thread *t, const struct trace_event *ev, uint32_t skip,
		    uint32_t size_bytes)
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

/* What it holds besides its place in the array. */
static void store_release(struct model *m, const struct store *s)
{
	if (s->size_bytes > STORE_SMALL_BYTES)
		pool_put(&m->rests, s->bytes.rest);
}

/* n stores are left. Room goes back when most of it is empty. */
static void line_shrink(struct model *m, struct line *l, uint32_t n)
{
	uint8_t room = l->room;

	m->nstores -= l->nstores - n;
	l->nstores = n;
	while (room && STORES_ROOM(room) > 4 * n)
		room--;
	if (n && room < l->room)
		stores_move(m, l, room);
}

/* Into the base; older stores to the same bytes, which end before `end`, cannot be seen any more (invariant 3). True if one of
 * them lost a byte. */
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

/* is_forgotten: not durable, but the states that showed them are no longer offered. */
static void line_drop_dead(struct model *m, struct line *l, bool is_forgotten)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nstores; i++) {
		const struct store *s = &l->stores[i];
		struct store *last = n ? &l->stores[n - 1] : NULL;

		if (store_live(s)) {
			l->stores[n++] = *s;
			continue;
		}
		/* What was glued to it now ends the run: with or without s, the content is the same. */
		if (last && last->is_glued && !s->is_glued) {
			last->is_glued = false;
			last->is_whole = true;
		}
		if (!is_forgotten)
			tell_durable(m, s->seq);
		store_release(m, s);
	}
	line_shrink(m, l, n);
}

void line_persist(struct model *m, struct line *l, uint64_t upto, const struct thread *unordered_of)
{
	bool is_older_hit = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nstores; i++) {
		const struct store *s = &l->stores[i];

		if (s->is_unordered ? unordered_of && s->thread == unordered_of->index : s->seq <= upto) {
			is_older_hit |= store_settle(l, s, &l->stores[n]);
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

/* ---- forgetting states ---- */

static bool is_flush_between(const struct line *l, const struct store *older, const struct store *newer)
{
	for (const struct pending *p = l->pendings; p; p = p->in_line)
		if (older->seq <= p->upto && p->upto < newer->seq)
			return true;
	return false;
}

/* at[i] is lost or kept with the next store from now on. What later stores of such a run cover is never seen. */
static void store_glue(struct store *at, size_t i, size_t n)
{
	struct store *s = &at[i];

	s->is_glued = true;
	at[i + 1].is_whole = true;
	for (size_t j = i + 1; j < n && store_live(s); j++) {
		store_set_live(s, store_live(s) & ~store_covered(s, &at[j]));
		if (!at[j].is_glued)
			break;
	}
}

/* The same thread stores all of it again, without a fence between: only a crash in between shows it. */
static bool is_stored_again(const struct store *at, size_t i, size_t n)
{
	for (size_t j = i + 1; j < n; j++)
		if (at[j].is_unordered && at[j].thread == at[i].thread && !(store_live(&at[i]) & ~store_covered(&at[i], &at[j])))
			return true;
	return false;
}

#define SEEN_ROOM 1024u

/* A table of sites with room for about twice as many as there are stores. */
struct seen {
	const struct trace_site *sites[SEEN_ROOM];
	size_t mask;
};

static void seen_init(struct seen *seen, size_t nstores)
{
	size_t room = 16;

	while (room < 2 * nstores && room < SEEN_ROOM)
		room *= 2;
	memset(seen->sites, 0, room * sizeof *seen->sites);
	seen->mask = room - 1;
}

/* Adds a site; true if it was there. A collision forgets the other one: then a store is kept that need not be. */
static bool seen_add(struct seen *seen, const struct trace_site *site)
{
	static const struct trace_site unknown;
	const struct trace_site *key = site ? site : &unknown;
	size_t i = (((uintptr_t)key >> 4) * 0x9e3779b1u >> 6) & seen->mask;
	bool was_seen = seen->sites[i] == key;

	seen->sites[i] = key;
	return was_seen;
}

/* Forgets the states between a store and the next, where a newer store of the same site is in the line. */
void line_coalesce(struct model *m, struct line *l)
{
	struct store *at = l->stores;
	size_t n = l->nstores;
	struct seen seen;

	seen_init(&seen, n);
	seen_add(&seen, at[n - 1].site);
	for (size_t i = n - 1; i-- > 0;) {
		if (!seen_add(&seen, at[i].site))
			continue;
		if (at[i].is_unordered) {
			if (!is_stored_again(at, i, n))
				continue;
			store_set_live(&at[i], 0);
		} else {
			if (at[i + 1].is_unordered || is_flush_between(l, &at[i], &at[i + 1]))
				continue;
			store_glue(at, i, n);
		}
		m->is_exact = false;
	}
	line_drop_dead(m, l, true);
	l->floor = 2 * l->nstores;
}
