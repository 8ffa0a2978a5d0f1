/* Computes the shape of a behaviour, and says whether one shape can represent another. Shapes are
 * compared by their updates, and by the orderings among them and with other objects. */
#include "crash/representative/shape.h"
#include "util/hash.h"

#include <string.h>

/* An update while a shape is computed: one or several stores. */
struct part {
	uint32_t field, site;
	uint32_t first, last; /* stores */
	uint64_t last_durable_seq;
	uint64_t line; /* the line that contains all of it, or GRAPH_NO_LINE */
	uint8_t outside;
	VEC(uint32_t) others;
};
typedef VEC(struct part) parts;

/* ---- orderings with other objects ---- */

/* Adds the places that store to other objects before the update is durable: in this operation, and
 * in the next one, where the update may still be pending. */
static void add_others(const struct shape_setting *in, const struct behaviour *b, size_t i,
		       struct part *to)
{
	const struct graph *g = in->graph;
	const struct graph_store *s = &g->stores.at[b->updates[i].store];
	size_t ack = seqs_after(in->acks, in->nacks, s->seq) + 1;
	uint64_t end =
		ack < in->nacks && in->acks[ack] < s->durable_seq ? in->acks[ack] : s->durable_seq;
	uint32_t n = 0;

	for (uint32_t k = b->updates[i].store + 1;
	     k < g->stores.n && g->stores.at[k].seq < end && n < SHAPE_OTHERS_MAX; k++) {
		size_t at = 0;

		while (i < b->n && b->updates[i].store < k)
			i++;
		if (i < b->n && b->updates[i].store == k)
			continue;
		n++;
		while (at < to->others.n && to->others.at[at] < g->stores.at[k].site)
			at++;
		if (at < to->others.n && to->others.at[at] == g->stores.at[k].site)
			continue;
		vec_add(&to->others);
		memmove(to->others.at + at + 1, to->others.at + at,
			(to->others.n - 1 - at) * sizeof *to->others.at);
		to->others.at[at] = g->stores.at[k].site;
	}
}

static uint8_t outside_of(const struct shape_setting *in, const struct behaviour *b, size_t i)
{
	const struct graph *g = in->graph;
	const struct graph_store *s = &g->stores.at[b->updates[i].store];
	size_t fence = seqs_after(g->durable_events.at, g->durable_events.n, s->seq),
	       ack = seqs_after(in->acks, in->nacks, s->seq);
	const uint8_t silent = s->is_silent ? SHAPE_SILENT : 0;

	if (s->durable_seq == GRAPH_NEVER)
		return silent;
	return (uint8_t)(silent | SHAPE_DURABLE |
			 (fence == g->durable_events.n ||
					  s->durable_seq <= g->durable_events.at[fence]
				  ? SHAPE_FIRST_FENCE
				  : 0) |
			 (ack == in->nacks || s->durable_seq < in->acks[ack] ? SHAPE_ACKNOWLEDGED
									     : 0));
}

/* ---- computing a shape ---- */

/* Finds the update to which this store belongs; NULL: it begins a new one. */
static struct part *find_part(parts *list, uint32_t field, uint32_t site)
{
	struct part *last = list->n > 0 ? &list->at[list->n - 1] : NULL;
	uint32_t nsame = 0;

	if (last && last->field == field && last->site == site)
		return last;
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].field == field) {
			last = &list->at[i];
			nsame++;
		}
	return nsame >= SHAPE_SAME || list->n == SHAPE_MAX ? last : NULL;
}

static void add_part(parts *list, const struct shape_setting *in, const struct behaviour *b,
		     size_t i)
{
	const struct graph *g = in->graph;
	const struct update *u = &b->updates[i];
	const struct graph_store *s = &g->stores.at[u->store];
	struct part *p = find_part(list, u->field, s->site);
	uint8_t outside = in->outside ? outside_of(in, b, i) & in->outside : 0;
	bool is_new = !p;

	if (is_new) {
		p = vec_add(list);
		*p = (struct part){ .field = u->field,
				    .site = s->site,
				    .first = u->store,
				    .last_durable_seq = s->durable_seq,
				    .line = graph_line(g, u->store),
				    .outside = outside };
	}
	if (in->outside & SHAPE_OTHERS)
		add_others(in, b, i, p);
	p->last = u->store;
	if (is_new)
		return;
	if (p->last_durable_seq < s->durable_seq)
		p->last_durable_seq = s->durable_seq;
	if (p->line != graph_line(g, u->store))
		p->line = GRAPH_NO_LINE;
	p->outside &= outside;
}

static bool is_before(const struct graph *g, const struct part *a, const struct part *b)
{
	if (a->last_durable_seq <= g->stores.at[b->first].seq)
		return true;
	return a->line != GRAPH_NO_LINE && a->line == b->line &&
	       graph_keeps(g, a->last < b->first ? a->last : a->first, b->first);
}

static void fill_others(struct shape *s, uint32_t i, const parts *list)
{
	const struct part *p = &list->at[i];

	s->others_at[i + 1] = s->others_at[i] + (uint32_t)p->others.n;
	if (p->others.n > 0)
		memcpy(s->others + s->others_at[i], p->others.at, p->others.n * sizeof *s->others);
	for (size_t k = 0; k < p->others.n; k++)
		s->hash = hash_mix(s->hash, p->others.at[k]);
	s->hash = hash_mix(s->hash, p->others.n);
}

static void fill(struct shape *s, const struct graph *g, const parts *list)
{
	uint32_t words = SHAPE_WORDS(s->n);

	s->hash = hash_mix(s->type, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		s->fields[i] = list->at[i].field;
		s->sites[i] = list->at[i].site;
		s->outside[i] = list->at[i].outside;
		s->norders += (uint64_t)__builtin_popcount(s->outside[i]);
		for (uint32_t j = i + 1; j < s->n; j++)
			if (is_before(g, &list->at[i], &list->at[j]))
				s->before[(size_t)i * words + j / 64] |= (uint64_t)1 << j % 64;
		s->hash = hash_mix(s->hash, (uint64_t)s->fields[i] << 8 | s->outside[i]);
		fill_others(s, i, list);
		for (uint32_t w = 0; w < words; w++) {
			s->norders +=
				(uint64_t)__builtin_popcountll(s->before[(size_t)i * words + w]);
			s->hash = hash_mix(s->hash, s->before[(size_t)i * words + w]);
		}
	}
}

void shape_init(struct shape *s, const struct shape_setting *in, const struct behaviour *b)
{
	size_t nothers = 0;
	parts list = { 0 };

	for (size_t i = 0; i < b->n; i++)
		add_part(&list, in, b, i);
	for (size_t i = 0; i < list.n; i++)
		nothers += list.at[i].others.n;
	*s = (struct shape){ .type = b->type,
			     .n = (uint32_t)list.n,
			     .fields = xcalloc(list.n, sizeof *s->fields),
			     .sites = xcalloc(list.n, sizeof *s->sites),
			     .outside = xcalloc(list.n, sizeof *s->outside),
			     .others = xcalloc(nothers + 1, sizeof *s->others),
			     .others_at = xcalloc(list.n + 1, sizeof *s->others_at),
			     .before = xcalloc(list.n * SHAPE_WORDS(list.n), sizeof *s->before) };
	fill(s, in->graph, &list);
	for (size_t i = 0; i < list.n; i++)
		vec_release(&list.at[i].others);
	vec_release(&list);
}

void shape_release(struct shape *s)
{
	free(s->fields);
	free(s->sites);
	free(s->outside);
	free(s->others);
	free(s->others_at);
	free(s->before);
}

/* ---- comparing shapes ---- */

bool shape_same(const struct shape *a, const struct shape *b)
{
	return a->hash == b->hash && a->type == b->type && a->n == b->n &&
	       a->norders == b->norders &&
	       memcmp(a->fields, b->fields, a->n * sizeof *a->fields) == 0 &&
	       memcmp(a->outside, b->outside, a->n) == 0 &&
	       memcmp(a->others_at, b->others_at, (a->n + 1) * sizeof *a->others_at) == 0 &&
	       memcmp(a->others, b->others, a->others_at[a->n] * sizeof *a->others) == 0 &&
	       memcmp(a->before, b->before, (size_t)a->n * SHAPE_WORDS(a->n) * sizeof *a->before) ==
		       0;
}

/* Finds, for each update of a, the update of r that stands for it: the first to a field for the
 * first, the second for the second… False: r lacks one. */
static bool match(const struct shape *r, const struct shape *a, uint32_t *of)
{
	bool is_taken[SHAPE_MAX] = { false };

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t k = 0;

		while (k < r->n && (is_taken[k] || r->fields[k] != a->fields[i]))
			k++;
		if (k == r->n)
			return false;
		is_taken[k] = true;
		of[i] = k;
	}
	return true;
}

/* Does update k of r have all the places in its `others` that update i of a has? */
static bool has_others(const struct shape *r, uint32_t k, const struct shape *a, uint32_t i)
{
	uint32_t at = r->others_at[k];

	for (uint32_t j = a->others_at[i]; j < a->others_at[i + 1]; j++) {
		while (at < r->others_at[k + 1] && r->others[at] < a->others[j])
			at++;
		if (at == r->others_at[k + 1] || r->others[at] != a->others[j])
			return false;
	}
	return true;
}

bool shape_represents(const struct shape *r, const struct shape *a)
{
	uint32_t of[SHAPE_MAX];

	if (r->type != a->type || r->n < a->n || !match(r, a, of))
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		if (r->outside[of[i]] & ~a->outside[i] || !has_others(r, of[i], a, i))
			return false;
		for (uint32_t j = 0; j < a->n; j++)
			if (shape_before(r, of[i], of[j]) && !shape_before(a, i, j))
				return false;
	}
	return true;
}
