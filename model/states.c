/* Lists crash states: the contents that each line could have after a crash now. Enumerates the
 * survivors: a prefix of the ordered stores, some units of the next one, and any of the unordered
 * units. Only different contents count. partial.c lists lines that are partially ordered, or have a
 * store with many units. */
#include "model/internal.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define UNITS_MAX 16u /* unordered units in a line: up to 2^16 combinations are listed */

#define STORE_UNITS_MAX 8u /* units of one store: a string instruction may have 64 in a line */

static bool is_listed_by_parts(const struct model *m, const struct line *l)
{
	if (is_partial_order(m) || m->platform->line_bytes > PMT_LINE_BYTES)
		return is_partial_order(m);
	for (const struct store *s = l->stores; s < line_end(l); s++)
		if (s->unit_bytes && s->size_bytes > STORE_UNITS_MAX * s->unit_bytes)
			return true;
	return false;
}

/* A unit that may be lost by itself: bytes [from, to) of a store. */
struct unit {
	const struct store *store;
	uint8_t from, to;
};

/* What survives: the ordered stores before `last`, the units of `last` in `kept`, and the unordered
 * units in `extra` (both sets of bits). */
struct survival {
	const struct store *last; /* NULL: no ordered store survives */
	uint32_t kept, extra;
	bool is_all_of_last;
};

/* The bytes that follow each content: the number of lost stores, big-endian, so sorting puts the
 * smallest first. */
#define LOST_BYTES 4u

struct listing {
	const struct line *line;
	uint32_t line_bytes;
	VEC(uint8_t) contents;
	VEC(uint32_t) nlost;
	size_t ncontents;
	/* a content, or NULL; `best` is the survival that shows it and loses least */
	const uint8_t *wanted;
	struct survival best;
	uint32_t best_nlost;
	struct unit units[UNITS_MAX]; /* unordered units, oldest first */
	size_t nunits;
	uint32_t from, to; /* the asked bytes; unordered units elsewhere are left out */
	bool is_partial;
};

/* Gives the end of the unit of s that begins at byte `from`. */
static uint8_t unit_end(const struct store *s, uint8_t from)
{
	uint32_t end = ((s->at + from) | (s->unit_bytes - 1u)) + 1 - s->at;

	return !s->unit_bytes || end > s->size_bytes ? s->size_bytes : (uint8_t)end;
}

/* Appends the units that have live bytes among `bits`. False if there is no room for all. */
static bool units_of(const struct store *s, uint64_t bits, struct unit *units, size_t *n,
		     size_t room)
{
	uint8_t to;

	for (uint8_t from = 0; from < s->size_bytes; from = to) {
		to = unit_end(s, from);
		if (!(store_live(s) & bits & low_bits(to) & ~low_bits(from)))
			continue;
		if (*n == room)
			return false;
		units[(*n)++] = (struct unit){ s, from, to };
	}
	return true;
}

static void unit_apply(const struct unit *u, uint8_t *bytes)
{
	for (uint32_t i = u->from; i < u->to; i++)
		if (store_live(u->store) >> i & 1)
			bytes[u->store->at + i] = store_bytes(u->store)[i];
}

static void content_add(struct listing *g, const uint8_t *bytes, uint32_t nlost)
{
	uint32_t stride = g->line_bytes + LOST_BYTES, sortable = __builtin_bswap32(nlost);

	vec_reserve(&g->contents, g->contents.n + stride);
	memcpy(g->contents.at + g->contents.n, bytes, g->line_bytes);
	memcpy(g->contents.at + g->contents.n + g->line_bytes, &sortable, LOST_BYTES);
	g->contents.n += stride;
	g->ncontents++;
}

/* Makes the content that a survival leaves, applying units in coherence order, so the newest
 * wins. */
static void content_make(struct listing *g, const struct survival *v, const struct unit *of_last)
{
	bool is_past = !v->last;
	uint8_t bytes[MODEL_LINE_BYTES_MAX];
	uint32_t nlost = 0;
	size_t u = 0;

	memcpy(bytes, g->line->base, g->line_bytes);
	for (const struct store *s = g->line->stores; s < line_end(g->line); s++) {
		if (store_is_unordered(s)) {
			for (; u < g->nunits && g->units[u].store == s; u++)
				if (v->extra >> u & 1)
					unit_apply(&g->units[u], bytes);
				else
					nlost++;
		} else if (s == v->last) {
			for (uint32_t i = 0; v->kept >> i; i++)
				if (v->kept >> i & 1)
					unit_apply(&of_last[i], bytes);
			nlost += !v->is_all_of_last;
			is_past = true;
		} else if (!is_past) {
			unit_apply(&(struct unit){ s, 0, s->size_bytes }, bytes);
		} else {
			nlost++;
		}
	}
	if (g->wanted && nlost < g->best_nlost && memcmp(bytes, g->wanted, g->line_bytes) == 0) {
		g->best_nlost = nlost;
		g->best = *v;
	}
	content_add(g, bytes, nlost);
}

/* Makes the contents with every set of unordered units, as far as there is room. */
static void content_with_unordered(struct listing *g, struct survival v, const struct unit *of_last)
{
	uint32_t nsets = (uint32_t)1 << g->nunits;

	for (uint32_t extra = 0; extra < nsets; extra++) {
		if (g->ncontents >= MODEL_LINE_CONTENTS && extra != nsets - 1) {
			g->is_partial = true;
			continue;
		}
		v.extra = extra;
		content_make(g, &v, of_last);
	}
}

/* Sorts, keeps each content once (with the fewest lost stores), and moves the contents together. */
static void listing_sort(struct listing *g)
{
	uint32_t stride = g->line_bytes + LOST_BYTES, nlost;
	uint8_t *at = g->contents.at;
	size_t kept = 0;

	qsort_r(at, g->ncontents, stride, row_compare, &stride);
	vec_reserve(&g->nlost, g->ncontents);
	for (size_t i = 0; i < g->ncontents; i++) {
		const uint8_t *c = at + i * stride;

		if (kept > 0 && memcmp(c, at + (kept - 1) * g->line_bytes, g->line_bytes) == 0)
			continue;
		memcpy(&nlost, c + g->line_bytes, LOST_BYTES);
		memmove(at + kept * g->line_bytes, c, g->line_bytes);
		g->nlost.at[kept++] = __builtin_bswap32(nlost);
	}
	g->ncontents = kept;
}

/* Lists all contents of a line. No state ends at a glued store; the store that ends its run is a
 * single unit. */
static void listing_fill(struct listing *g, const struct model *m, const struct line *l)
{
	g->line = l;
	g->line_bytes = m->platform->line_bytes;
	if (!g->to)
		g->to = g->line_bytes;
	g->contents.n = g->ncontents = g->nunits = 0;
	g->is_partial = false;
	for (const struct store *s = l->stores; s < line_end(l); s++)
		if (store_is_unordered(s) &&
		    !units_of(s, store_bits(s, g->from, g->to), g->units, &g->nunits, UNITS_MAX))
			g->is_partial = true;
	content_with_unordered(g, (struct survival){ 0 }, NULL);
	for (const struct store *s = l->stores; s < line_end(l); s++) {
		struct unit units[UNITS_MAX];
		uint32_t nsets;
		size_t n = 0;

		if (store_is_unordered(s))
			continue;
		units_of(s, ~(uint64_t)0, units, &n, UNITS_MAX);
		nsets = (uint32_t)1 << n;
		if (!store_is_glued(s))
			for (uint32_t kept = 1; kept < nsets; kept++)
				content_with_unordered(
					g, (struct survival){ s, kept, 0, kept == nsets - 1 },
					units);
	}
	listing_sort(g);
}

static void listing_release(struct listing *g)
{
	vec_release(&g->contents);
	vec_release(&g->nlost);
}

static void tell_lost(const struct model *m, const struct store *s, const struct line *l,
		      bool is_partly, bool is_free,
		      void (*f)(const struct model_lost *s, void *arg), void *arg)
{
	f(&(struct model_lost){ .seq = s->seq,
				.site = s->site,
				.addr = l->addr + s->at,
				.size_bytes = s->size_bytes,
				.stream = m->thread_list.at[s->thread]->stream,
				.thread = m->thread_list.at[s->thread]->number,
				.is_partly = is_partly,
				.is_free = is_free },
	  arg);
}

struct telling {
	const struct model *model;
	const struct line *line;
	void (*f)(const struct model_lost *s, void *arg);
	void *arg;
};

static void tell_partial(const struct store *s, bool is_partly, bool is_free, void *arg)
{
	const struct telling *t = arg;

	tell_lost(t->model, s, t->line, is_partly, is_free, t->f, t->arg);
}

bool model_each_lost(const struct model *m, uint64_t addr, const uint8_t *content,
		     void (*f)(const struct model_lost *s, void *arg), void *arg)
{
	struct listing g = { .wanted = content, .best_nlost = UINT32_MAX };
	const struct line *l = line_find(m, addr);
	bool is_past;
	size_t u = 0;

	if (!l)
		return false;
	if (is_listed_by_parts(m, l))
		return partial_each_lost(m, l, content, tell_partial,
					 &(struct telling){ m, l, f, arg });
	listing_fill(&g, m, l);
	is_past = !g.best.last;
	for (const struct store *s = l->stores; s < line_end(l) && g.best_nlost < UINT32_MAX; s++) {
		if (store_is_unordered(s)) {
			uint32_t n = 0, nlost = 0;

			for (; u < g.nunits && g.units[u].store == s; u++, n++)
				nlost += !(g.best.extra >> u & 1);
			if (nlost > 0)
				tell_lost(m, s, l, nlost < n, false, f, arg);
		} else if (s == g.best.last) {
			if (!g.best.is_all_of_last)
				tell_lost(m, s, l, true, false, f, arg);
			is_past = true;
		} else if (is_past) {
			tell_lost(m, s, l, false, false, f, arg);
		}
	}
	listing_release(&g);
	return g.best_nlost < UINT32_MAX;
}

/* Makes a copy of the line as amd64 would have it; free() it and its stores. */
static struct line *line_in_sequence(const struct model *m, const struct line *l)
{
	struct line *copy = xmalloc(sizeof *copy + m->platform->line_bytes);

	memcpy(copy, l, sizeof *copy + m->platform->line_bytes);
	copy->stores = xcalloc(l->nstores + 1, sizeof *copy->stores);
	memcpy(copy->stores, l->stores, l->nstores * sizeof *copy->stores);
	for (uint32_t i = 0; i < l->nstores; i++) {
		struct store *s = &copy->stores[i];
		const struct trace_event ev = { .kind = s->kind,
						.addr = s->at,
						.size_bytes = s->size_bytes };

		s->unit_bytes = store_is_glued(s) || (i > 0 && store_is_glued(s - 1))
					? 0
					: x86_unit_bytes(m->platform, &ev);
		s->flags = (uint8_t)((s->flags & ~STORE_UNORDERED) |
				     (s->kind == PMT_STORE_NT ? STORE_UNORDERED : 0));
	}
	return copy;
}

bool model_is_in_sequence(const struct model *m, uint64_t addr, const uint8_t *content)
{
	struct listing g = { .wanted = content, .best_nlost = UINT32_MAX };
	const struct line *l = line_find(m, addr);
	struct line *sequence;

	if (!l || !is_partial_order(m))
		return true;
	sequence = line_in_sequence(m, l);
	listing_fill(&g, m, sequence);
	listing_release(&g);
	free(sequence->stores);
	free(sequence);
	return g.best_nlost < UINT32_MAX;
}

static uint64_t all_bytes(uint64_t addr, void *arg)
{
	(void)addr, (void)arg;
	return ~(uint64_t)0;
}

static struct model_choice choice_of(const struct model *m, const struct line *l, size_t max,
				     uint64_t asked, struct listing *g, struct contents *c)
{
	if (is_listed_by_parts(m, l)) {
		partial_contents(m, l, max, asked, c);
		return (struct model_choice){ l->addr,     m->platform->line_bytes,
					      c->n,        c->bytes.at,
					      c->nlost.at, c->is_partial,
					      c->asked };
	}
	listing_fill(g, m, l);
	return (struct model_choice){ l->addr,     g->line_bytes, g->ncontents, g->contents.at,
				      g->nlost.at, g->is_partial, ~(uint64_t)0 };
}

void model_each_choice(const struct model *m, void (*f)(const struct model_choice *c, void *arg),
		       void *arg)
{
	model_each_asked(m, SIZE_MAX, all_bytes, f, arg);
}

void model_each_asked(const struct model *m, size_t max,
		      uint64_t (*asked)(uint64_t addr, void *arg),
		      void (*f)(const struct model_choice *c, void *arg), void *arg)
{
	struct contents contents = { 0 };
	struct listing g = { 0 };
	struct line_walk walk;
	const struct line *l;

	line_walk_init(&walk, m, 0, UINT64_MAX);
	while ((l = line_walk_next(&walk))) {
		struct model_choice c = choice_of(m, l, max, asked(l->addr, arg), &g, &contents);

		if (c.ncontents > 1 || l->is_newer || c.asked != ~(uint64_t)0)
			f(&c, arg);
	}
	line_walk_release(&walk);
	listing_release(&g);
	contents_release(&contents);
}

static int value_compare(const void *a, const void *b, void *len_bytes)
{
	return memcmp(a, b, *(uint32_t *)len_bytes);
}

/* Calls f once for each different value. Contents of the line are `stride` bytes apart. */
static void each_distinct(uint8_t *values, size_t n, uint32_t stride, uint32_t from,
			  uint32_t len_bytes, void (*f)(const uint8_t *value, void *arg), void *arg)
{
	for (size_t i = 0; i < n; i++)
		memmove(values + i * len_bytes, values + i * stride + from, len_bytes);
	qsort_r(values, n, len_bytes, value_compare, &len_bytes);
	for (size_t i = 0; i < n; i++)
		if (i == 0 ||
		    memcmp(values + i * len_bytes, values + (i - 1) * len_bytes, len_bytes) != 0)
			f(values + i * len_bytes, arg);
}

static bool each_value_of_line(const struct model *m, const struct line *l, uint32_t from,
			       uint32_t to, void (*f)(const uint8_t *value, void *arg), void *arg)
{
	struct listing g = { .from = from, .to = to };
	struct contents c = { 0 };
	bool is_all;

	if (is_listed_by_parts(m, l)) {
		partial_list(m, l, from, to, &c);
		each_distinct(c.bytes.at, c.n, to - from, 0, to - from, f, arg);
	} else {
		listing_fill(&g, m, l);
		each_distinct(g.contents.at, g.ncontents, g.line_bytes, from, to - from, f, arg);
	}
	is_all = !c.is_partial && !g.is_partial;
	listing_release(&g);
	contents_release(&c);
	return is_all;
}

bool model_each_value(const struct model *m, uint64_t addr, uint32_t len_bytes,
		      void (*f)(const uint8_t *value, void *arg), void *arg)
{
	uint32_t at = (uint32_t)(addr - line_start(m, addr));
	const struct line *l = line_find(m, addr);
	uint8_t bytes[MODEL_LINE_BYTES_MAX] = { 0 };

	if (len_bytes == 0 || len_bytes > m->platform->line_bytes - at)
		BUG("%u bytes at %u of a line", len_bytes, at);
	if (l)
		return each_value_of_line(m, l, at, at + len_bytes, f, arg);
	if (m->image.read)
		m->image.read(m->image.arg, line_start(m, addr), bytes, m->platform->line_bytes);
	f(bytes + at, arg);
	return true;
}

static uint64_t line_nstates(const struct model *m, const struct line *l, struct listing *g)
{
	if (is_listed_by_parts(m, l))
		return partial_ncontents(m, l);
	listing_fill(g, m, l);
	return g->is_partial ? UINT64_MAX : g->ncontents;
}

uint64_t model_nstates(const struct model *m)
{
	struct listing g = { 0 };
	uint64_t n = 1;

	for (size_t i = 0; i < m->room && n < UINT64_MAX; i++) {
		if (!m->slots[i].line)
			continue;
		if (__builtin_mul_overflow(n, line_nstates(m, m->slots[i].line, &g), &n))
			n = UINT64_MAX;
	}
	listing_release(&g);
	return n;
}
