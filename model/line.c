/* Lines: finding them, adding stores, making stores durable. See line.h for the invariants. */
#include "model/line.h"

#include <string.h>

/* ---- pools ---- */

#define POOL_CHUNK 64u

void *pool_get(struct model *m, struct pool *p)
{
	void *thing = p->unused;

	if (!thing) {
		char *chunk = arena_alloc(&m->arena, POOL_CHUNK * p->size_bytes);

		for (size_t i = 0; i < POOL_CHUNK; i++)
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

/* ---- the table of lines ---- */

static size_t home(const struct model *m, uint64_t addr)
{
	uint64_t h = addr * 0x9e3779b97f4a7c15u;

	return (h ^ h >> 32) & (m->room - 1);
}

static size_t slot_find(const struct model *m, uint64_t addr)
{
	size_t i = home(m, addr);

	while (m->slots[i] && m->slots[i]->addr != addr)
		i = (i + 1) & (m->room - 1);
	return i;
}

struct line *line_find(const struct model *m, uint64_t addr)
{
	return m->nlines ? m->slots[slot_find(m, line_start(m, addr))] : NULL;
}

static void table_grow(struct model *m)
{
	struct line **old = m->slots;
	size_t old_room = m->room;

	m->room = old_room ? 2 * old_room : 64;
	m->slots = xcalloc(m->room, sizeof *m->slots);
	for (size_t i = 0; i < old_room; i++)
		if (old[i])
			m->slots[slot_find(m, old[i]->addr)] = old[i];
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
	if (m->slots[i])
		return m->slots[i];
	l = m->slots[i] = pool_get(m, &m->lines);
	m->nlines++;
	*l = (struct line){ .addr = addr };
	if (m->image.read)
		m->image.read(m->image.arg, addr, l->base, m->platform->line_bytes);
	else
		memset(l->base, 0, m->platform->line_bytes);
	return l;
}

/* Moves later lines of the same cluster back, so that no search stops early at the hole. */
static void slot_clear(struct model *m, size_t hole)
{
	size_t mask = m->room - 1, i = hole;

	for (;;) {
		i = (i + 1) & mask;
		if (!m->slots[i])
			break;
		if (((i - home(m, m->slots[i]->addr)) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = NULL;
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
		if (m->slots[i] && m->slots[i]->addr >= w->addr && m->slots[i]->addr <= last)
			w->at[w->n++] = m->slots[i];
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

/* Up to 8 bytes, a locked 16-byte compare-and-swap, a movdir64b; never across a cache line, however long a platform's are. */
static bool is_one_access(const struct trace_event *ev)
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

struct store *line_add_store(struct model *m, struct line *l, struct thread *t, const struct trace_event *ev, uint32_t skip,
			     uint32_t size_bytes)
{
	struct store *s;

	if (l->nstores >= line_limit(m, l))
		line_coalesce(m, l);
	s = pool_get(m, size_bytes <= STORE_SMALL_BYTES ? &m->small_stores : &m->stores);
	*s = (struct store){
		.site = ev->site,
		.thread = t,
		.seq = ev->seq,
		.live = low_bits(size_bytes),
		.at = (uint16_t)(ev->addr + skip - l->addr),
		.size_bytes = (uint8_t)size_bytes,
		.kind = (uint8_t)ev->kind,
		.is_whole = is_one_access(ev),
	};
	memcpy(s->bytes, ev->data + skip, size_bytes);
	if (l->newest)
		l->newest->next = s;
	else
		l->oldest = s;
	l->newest = s;
	l->nstores++;
	m->nstores++;
	return s;
}

static void store_free(struct model *m, struct line *l, struct store *s)
{
	pool_put(s->size_bytes <= STORE_SMALL_BYTES ? &m->small_stores : &m->stores, s);
	l->nstores--;
	m->nstores--;
}

/* Into the base; older stores to the same bytes cannot be seen any more (invariant 3). True if one of them lost a byte. */
static bool store_settle(struct line *l, const struct store *s)
{
	bool is_older_hit = false;
	struct store *o;

	if (s->live == low_bits(s->size_bytes))
		memcpy(l->base + s->at, s->bytes, s->size_bytes);
	else
		for (uint32_t i = 0; i < s->size_bytes; i++)
			if (s->live >> i & 1)
				l->base[s->at + i] = s->bytes[i];
	l->is_newer = true;
	for (o = l->oldest; o != s; o = o->next) {
		is_older_hit |= (o->live & store_covered(o, s)) != 0;
		o->live &= ~store_covered(o, s);
	}
	return is_older_hit;
}

static void line_drop_dead(struct model *m, struct line *l)
{
	struct store **link = &l->oldest, *s;

	l->newest = NULL;
	while ((s = *link)) {
		if (s->live) {
			l->newest = s;
			link = &s->next;
			continue;
		}
		/* What was glued to it now ends the run: with or without s, the content is the same. */
		if (l->newest && l->newest->is_glued && !s->is_glued) {
			l->newest->is_glued = false;
			l->newest->is_whole = true;
		}
		*link = s->next;
		store_free(m, l, s);
	}
}

void line_persist(struct model *m, struct line *l, uint64_t upto, const struct thread *unordered_of)
{
	struct store **link = &l->oldest, *s;
	bool is_older_hit = false;

	l->newest = NULL;
	while ((s = *link)) {
		if (s->is_unordered ? s->thread == unordered_of : s->seq <= upto) {
			is_older_hit |= store_settle(l, s);
			*link = s->next;
			store_free(m, l, s);
		} else {
			l->newest = s;
			link = &s->next;
		}
	}
	if (is_older_hit)
		line_drop_dead(m, l);
	if (!l->oldest)
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
static void store_glue(struct store **at, size_t i, size_t n)
{
	struct store *s = at[i];

	s->is_glued = true;
	at[i + 1]->is_whole = true;
	for (size_t j = i + 1; j < n && s->live; j++) {
		s->live &= ~store_covered(s, at[j]);
		if (!at[j]->is_glued)
			break;
	}
}

/* The same thread stores all of it again, without a fence between: only a crash in between shows it. */
static bool is_stored_again(struct store **at, size_t i, size_t n)
{
	for (size_t j = i + 1; j < n; j++)
		if (at[j]->is_unordered && at[j]->thread == at[i]->thread && !(at[i]->live & ~store_covered(at[i], at[j])))
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
	struct store **at;
	struct seen seen;
	size_t n;

	m->scratch.n = 0;
	for (struct store *s = l->oldest; s; s = s->next)
		*vec_add(&m->scratch) = s;
	at = m->scratch.at;
	n = m->scratch.n;
	seen_init(&seen, n);
	seen_add(&seen, at[n - 1]->site);
	for (size_t i = n - 1; i-- > 0;) {
		if (!seen_add(&seen, at[i]->site))
			continue;
		if (at[i]->is_unordered) {
			if (!is_stored_again(at, i, n))
				continue;
			at[i]->live = 0;
		} else {
			if (at[i + 1]->is_unordered || is_flush_between(l, at[i], at[i + 1]))
				continue;
			store_glue(at, i, n);
		}
		m->is_exact = false;
	}
	line_drop_dead(m, l);
	l->floor = 2 * l->nstores;
}
