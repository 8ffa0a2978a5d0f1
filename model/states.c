/* Crash states: the contents that each line could have after a crash now, by enumeration: a prefix of the ordered stores,
 * some units of the next one, and any of the unordered units. Only distinct contents count. */
#include "model/line.h"

#include <string.h>

#define UNITS_MAX 16u /* of unordered stores in a line: 2^16 combinations are listed */

/* A unit that may be lost on its own: bytes [from, to) of a store. */
struct unit {
	const struct store *store;
	uint8_t from, to;
};

struct listing {
	const struct line *line;
	uint32_t line_bytes;
	VEC(uint8_t) contents;
	size_t ncontents;
	struct unit units[UNITS_MAX]; /* unordered, oldest first */
	size_t nunits;
	bool is_partial;
};

/* The end of the unit of s that begins at byte `from`. */
static uint8_t unit_end(const struct store *s, uint8_t from)
{
	uint32_t end = ((s->at + from) | 7u) + 1 - s->at;

	return s->is_whole || end > s->size_bytes ? s->size_bytes : (uint8_t)end;
}

/* Appends units with live bytes; false if there is no room for all. */
static bool units_of(const struct store *s, struct unit *units, size_t *n, size_t room)
{
	uint8_t to;

	for (uint8_t from = 0; from < s->size_bytes; from = to) {
		to = unit_end(s, from);
		if (!(store_live(s) & low_bits(to) & ~low_bits(from)))
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

static void content_add(struct listing *g, const uint8_t *bytes)
{
	vec_reserve(&g->contents, g->contents.n + g->line_bytes);
	memcpy(g->contents.at + g->contents.n, bytes, g->line_bytes);
	g->contents.n += g->line_bytes;
	g->ncontents++;
}

/* The content when ordered stores before `last`, those units of `last` that are in `kept`, and those unordered units that are
 * in `extra` survive. The newest wins: apply in coherence order. */
static void content_make(struct listing *g, const struct store *last, const struct unit *of_last, uint32_t kept, uint32_t extra)
{
	uint8_t bytes[MODEL_LINE_BYTES_MAX];
	bool is_past = false;
	size_t u = 0;

	memcpy(bytes, g->line->base, g->line_bytes);
	for (const struct store *s = g->line->stores; s < line_end(g->line); s++) {
		if (s->is_unordered) {
			for (; u < g->nunits && g->units[u].store == s; u++)
				if (extra >> u & 1)
					unit_apply(&g->units[u], bytes);
		} else if (s == last) {
			for (uint32_t i = 0; kept >> i; i++)
				if (kept >> i & 1)
					unit_apply(&of_last[i], bytes);
			is_past = true;
		} else if (!is_past && last) {
			unit_apply(&(struct unit){ s, 0, s->size_bytes }, bytes);
		}
	}
	content_add(g, bytes);
}

/* With every set of unordered units, as far as there is room. */
static void content_with_unordered(struct listing *g, const struct store *last, const struct unit *of_last, uint32_t kept)
{
	uint32_t nsets = (uint32_t)1 << g->nunits;

	for (uint32_t extra = 0; extra < nsets; extra++) {
		if (g->ncontents >= MODEL_LINE_CONTENTS && extra != nsets - 1) {
			g->is_partial = true;
			continue;
		}
		content_make(g, last, of_last, kept, extra);
	}
}

static int listing_compare(const void *a, const void *b, void *line_bytes)
{
	return memcmp(a, b, *(uint32_t *)line_bytes);
}

static void listing_sort(struct listing *g)
{
	uint8_t *at = g->contents.at;
	size_t kept = 1;

	qsort_r(at, g->ncontents, g->line_bytes, listing_compare, &g->line_bytes);
	for (size_t i = 1; i < g->ncontents; i++)
		if (memcmp(at + i * g->line_bytes, at + (kept - 1) * g->line_bytes, g->line_bytes) != 0)
			memmove(at + kept++ * g->line_bytes, at + i * g->line_bytes, g->line_bytes);
	g->ncontents = kept;
}

/* A glued store's end is no state. The store that ends its run is whole, so it has no partial states either. */
static void listing_fill(struct listing *g, const struct model *m, const struct line *l)
{
	g->line = l;
	g->line_bytes = m->platform->line_bytes;
	g->contents.n = g->ncontents = g->nunits = 0;
	g->is_partial = false;
	for (const struct store *s = l->stores; s < line_end(l); s++)
		if (s->is_unordered && !units_of(s, g->units, &g->nunits, UNITS_MAX))
			g->is_partial = true;
	content_with_unordered(g, NULL, NULL, 0);
	for (const struct store *s = l->stores; s < line_end(l); s++) {
		struct unit units[UNITS_MAX];
		uint32_t nsets;
		size_t n = 0;

		if (s->is_unordered)
			continue;
		units_of(s, units, &n, UNITS_MAX);
		nsets = (uint32_t)1 << n;
		if (!s->is_glued)
			for (uint32_t kept = 1; kept < nsets; kept++)
				content_with_unordered(g, s, units, kept);
	}
	listing_sort(g);
}

void model_each_choice(const struct model *m, void (*f)(const struct model_choice *c, void *arg), void *arg)
{
	struct listing g = { 0 };
	struct line_walk walk;
	const struct line *l;

	line_walk_init(&walk, m, 0, UINT64_MAX);
	while ((l = line_walk_next(&walk))) {
		listing_fill(&g, m, l);
		if (g.ncontents == 1 && !l->is_newer)
			continue;
		f(&(struct model_choice){ .addr = l->addr,
					  .len_bytes = g.line_bytes,
					  .ncontents = g.ncontents,
					  .contents = g.contents.at,
					  .is_partial = g.is_partial },
		  arg);
	}
	line_walk_release(&walk);
	vec_release(&g.contents);
}

uint64_t model_nstates(const struct model *m)
{
	struct listing g = { 0 };
	uint64_t n = 1;

	for (size_t i = 0; i < m->room && n < UINT64_MAX; i++) {
		if (!m->slots[i].line)
			continue;
		listing_fill(&g, m, m->slots[i].line);
		if (g.is_partial || __builtin_mul_overflow(n, g.ncontents, &n))
			n = UINT64_MAX;
	}
	vec_release(&g.contents);
	return n;
}
