/* Keeps the table of a model's lines: finds, adds and removes them, and walks those in a range. It
 * is a hash table in which neighbouring lines have neighbouring slots. */
#include "model/internal.h"

#include <string.h>

/* The slots of NEIGHBOURS consecutive lines are consecutive (rotated by a hash), because programs
 * walk through memory, and memory is faster if the table is walked, too. A search continues in
 * steps of one more than that, so neighbours whose slots are taken move together. */
#define NEIGHBOURS 64u
#define STEP (NEIGHBOURS + 1)           /* odd, so it reaches every slot */
#define STEP_INVERSE 0xfc0fc0fc0fc0fc1u /* the inverse of STEP modulo 2^64, which counts steps */
_Static_assert(STEP *STEP_INVERSE == 1, "an inverse");

static size_t home_slot(const struct model *m, uint64_t addr)
{
	uint64_t number = addr >> m->line_shift, h = number / NEIGHBOURS * 0x9e3779b97f4a7c15u;

	h ^= h >> 32;
	return (h * NEIGHBOURS + (number + (h >> 26)) % NEIGHBOURS) & (m->room - 1);
}

/* Counts the steps from one slot to another. */
static size_t steps_between(const struct model *m, size_t from, size_t to)
{
	return (to - from) * STEP_INVERSE & (m->room - 1);
}

static size_t slot_find(const struct model *m, uint64_t addr)
{
	size_t i = home_slot(m, addr);

	while (m->slots[i].line && m->slots[i].addr != addr)
		i = (i + STEP) & (m->room - 1);
	return i;
}

struct line *line_find(const struct model *m, uint64_t addr)
{
	addr = line_start(m, addr);
	if (m->recent && m->recent->addr == addr)
		return m->recent;
	return m->nlines ? m->slots[slot_find(m, addr)].line : NULL;
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

	addr = line_start(m, addr);
	if (m->recent && m->recent->addr == addr)
		return m->recent;
	if (2 * (m->nlines + 1) > m->room)
		table_grow(m);
	i = slot_find(m, addr);
	if (m->slots[i].line)
		return m->recent = m->slots[i].line;
	l = pool_get(&m->lines, &m->arena);
	m->slots[i] = (struct slot){ addr, l };
	m->nlines++;
	*l = (struct line){ .addr = addr, .stores = stores_get(m, 0) };
	if (m->image.read)
		m->image.read(m->image.arg, addr, l->base, m->platform->line_bytes);
	else
		memset(l->base, 0, m->platform->line_bytes);
	return m->recent = l;
}

/* Empties a slot. Moves later lines of its chain back, so that no search stops at the hole. */
static void slot_clear(struct model *m, size_t hole)
{
	size_t i = hole;

	for (;;) {
		i = (i + STEP) & (m->room - 1);
		if (!m->slots[i].line)
			break;
		if (steps_between(m, home_slot(m, m->slots[i].addr), i) >=
		    steps_between(m, hole, i)) {
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
	if (m->recent == l)
		m->recent = NULL;
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
	uint64_t last =
		line_start(m, len_bytes > UINT64_MAX - addr ? UINT64_MAX : addr + len_bytes - 1);

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
