/* Crash states of a line whose stores are a partial order (arm64). What survives is a set of units that has, with each unit, all those before it; its
 * content is the newest surviving unit in each byte.
 *
 * A unit comes before a later one if they overlap, if different threads stored them, or if a barrier, a release or an acquire after a release orders
 * them (order.c). Units that nothing connects are in different parts, and parts share no byte: contents of the line are the product of theirs. Of a
 * question about some bytes, only the units that touch them matter, in the order that the others hand on. */
#include "model/internal.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX 1024u /* of the newest; older ones than these survive */

/* A unit, or a run of stores that are lost or kept together. */
struct node {
	const struct store *first, *last; /* the same, if it is a unit */
	uint8_t from, to;		  /* bytes of `first` */
	uint64_t touched;		  /* bytes of the line */
	uint32_t part;
};

struct partial {
	const struct line *line;
	struct node *nodes; /* oldest first */
	uint32_t n, words;
	uint64_t *before; /* for each node `words` words: the nodes before it */
	uint64_t *kept;	  /* a set of nodes, while sets are listed */
	uint64_t asked;	  /* bytes of the line */
	uint8_t base[PMT_LINE_BYTES];
	uint32_t nparts;
	bool is_partial;
};

static uint64_t touched_by(const struct store *s, uint32_t from, uint32_t to)
{
	return (low_bits(to) & ~low_bits(from)) << s->at;
}

/* ---- order ---- */

static bool store_is_before(const struct store *s, const struct store *later)
{
	return s->thread != later->thread || later->back == 0 || s->epoch + later->back <= later->epoch;
}

static bool node_is_before(const struct node *a, const struct node *b)
{
	if (a->first == b->first)
		return false; /* units of one store */
	if (a->touched & b->touched)
		return true;
	for (const struct store *s = a->first; s <= a->last; s++)
		for (const struct store *later = b->first; later <= b->last; later++)
			if (store_is_before(s, later))
				return true;
	return false;
}

static bool has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static void put(uint64_t *set, uint32_t i)
{
	set[i / 64] |= (uint64_t)1 << i % 64;
}

static uint64_t *before_of(const struct partial *p, uint32_t i)
{
	return p->before + (size_t)i * p->words;
}

/* Whatever is before one that is before it, too. */
static void order_nodes(struct partial *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t *mine = before_of(p, i);

		for (uint32_t k = i; k-- > 0;) {
			if (has(mine, k) || !node_is_before(&p->nodes[k], &p->nodes[i]))
				continue;
			put(mine, k);
			for (uint32_t w = 0; w < p->words; w++)
				mine[w] |= before_of(p, k)[w];
		}
	}
}

/* ---- nodes ---- */

static const struct store *run_end(const struct line *l, const struct store *s)
{
	while (store_is_glued(s) && s + 1 < line_end(l))
		s++;
	return s;
}

static uint32_t unit_end(const struct store *s, uint32_t from)
{
	uint32_t end = s->unit_bytes ? ((s->at + from) | (s->unit_bytes - 1u)) + 1 - s->at : s->size_bytes;

	return end < s->size_bytes ? end : s->size_bytes;
}

static void make_nodes(struct partial *p)
{
	const struct line *l = p->line;
	VEC(struct node) all = { 0 };
	size_t skipped;

	for (const struct store *s = l->stores; s < line_end(l); s++) {
		struct node run = { .first = s, .last = run_end(l, s) };
		uint32_t to;

		if (run.first == run.last) {
			for (uint32_t from = 0; from < s->size_bytes; from = to) {
				to = unit_end(s, from);
				*vec_add(&all) = (struct node){ s, s, (uint8_t)from, (uint8_t)to, touched_by(s, from, to), 0 };
			}
			continue;
		}
		for (; s <= run.last; s++)
			run.touched |= touched_by(s, 0, s->size_bytes);
		s = run.last;
		*vec_add(&all) = run;
	}
	skipped = all.n > NODES_MAX ? all.n - NODES_MAX : 0;
	while (skipped > 0 && skipped < all.n && all.at[skipped].from > 0)
		skipped++; /* a store is cut off as a whole */
	p->is_partial = skipped > 0;
	p->n = (uint32_t)(all.n - skipped);
	p->nodes = xcalloc(p->n + 1, sizeof *p->nodes);
	memcpy(p->nodes, all.at + skipped, p->n * sizeof *p->nodes);
	vec_release(&all);
}

static void node_apply(const struct node *n, uint8_t *bytes)
{
	for (const struct store *s = n->first; s <= n->last; s++) {
		uint32_t from = n->first == n->last ? n->from : 0, to = n->first == n->last ? n->to : s->size_bytes;

		for (uint32_t i = from; i < to; i++)
			if (store_live(s) >> i & 1)
				bytes[s->at + i] = store_bytes(s)[i];
	}
}

/* Those that do not touch the asked bytes hand their order on and go. */
static void drop_others(struct partial *p)
{
	uint32_t n = 0, *number = xcalloc(p->n + 1, sizeof *number);
	uint64_t *row = xcalloc(p->words, sizeof *row);

	for (uint32_t i = 0; i < p->n; i++) {
		number[i] = UINT32_MAX;
		if (!(p->nodes[i].touched & p->asked))
			continue;
		memset(row, 0, p->words * sizeof *row);
		for (uint32_t k = 0; k < i; k++)
			if (has(before_of(p, i), k) && number[k] < UINT32_MAX)
				put(row, number[k]);
		number[i] = n;
		memcpy(before_of(p, n), row, p->words * sizeof *row);
		p->nodes[n++] = p->nodes[i];
	}
	p->n = n;
	free(row);
	free(number);
}

static void number_parts(struct partial *p)
{
	p->nparts = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t part = p->nparts;

		for (uint32_t k = 0; k < i; k++) {
			uint32_t other = p->nodes[k].part;

			if (!has(before_of(p, i), k) || other == part)
				continue;
			if (part == p->nparts) {
				part = other;
				continue;
			}
			for (uint32_t j = 0; j < i; j++) /* it joins two */
				if (p->nodes[j].part == other)
					p->nodes[j].part = part;
		}
		p->nodes[i].part = part;
		p->nparts += part == p->nparts;
	}
}

static void partial_init(struct partial *p, const struct line *l, uint32_t from, uint32_t to)
{
	*p = (struct partial){ .line = l, .asked = low_bits(to) & ~low_bits(from) };
	memcpy(p->base, l->base, sizeof p->base);
	make_nodes(p);
	if (p->is_partial)
		for (const struct store *s = l->stores; s < p->nodes[0].first; s++)
			node_apply(&(struct node){ s, s, 0, s->size_bytes, 0, 0 }, p->base);
	p->words = p->n / 64 + 1;
	p->before = xcalloc((size_t)(p->n + 1) * p->words, sizeof *p->before);
	p->kept = xcalloc(p->words, sizeof *p->kept);
	order_nodes(p);
	if (from > 0 || to < PMT_LINE_BYTES)
		drop_others(p);
	number_parts(p);
}

static void partial_release(struct partial *p)
{
	free(p->nodes);
	free(p->before);
	free(p->kept);
}

/* ---- the sets of one part ---- */

struct sets {
	struct partial *p;
	uint32_t part;
	uint64_t nsets;
	bool is_partial;
	void (*f)(struct sets *s, const uint8_t *bytes, uint32_t nlost);
	struct contents *out;  /* for contents_add */
	const uint8_t *wanted; /* for note_best: this content; the set that loses least */
	uint64_t touched, *best;
	uint32_t best_nlost;
};

static uint32_t node_weight(const struct node *n)
{
	return (uint32_t)(n->last - n->first) + 1;
}

static bool is_allowed(const struct partial *p, uint32_t i)
{
	for (uint32_t w = 0; w < p->words; w++)
		if (before_of(p, i)[w] & ~p->kept[w])
			return false;
	return true;
}

/* Every choice ends in a set of its own. The first keeps all. */
static void each_set(struct sets *s, uint32_t i, const uint8_t *bytes, uint32_t nlost)
{
	struct partial *p = s->p;
	uint8_t with[PMT_LINE_BYTES];

	if (s->nsets >= MODEL_LINE_CONTENTS) {
		s->is_partial = true;
		return;
	}
	for (; i < p->n && (p->nodes[i].part != s->part || !is_allowed(p, i)); i++)
		if (p->nodes[i].part == s->part)
			nlost += node_weight(&p->nodes[i]);
	if (i == p->n) {
		s->nsets++;
		s->f(s, bytes, nlost);
		return;
	}
	memcpy(with, bytes, sizeof with);
	node_apply(&p->nodes[i], with);
	put(p->kept, i);
	each_set(s, i + 1, with, nlost);
	p->kept[i / 64] &= ~((uint64_t)1 << i % 64);
	each_set(s, i + 1, bytes, nlost + node_weight(&p->nodes[i]));
}

static void list_sets(struct sets *s)
{
	memset(s->p->kept, 0, s->p->words * sizeof *s->p->kept);
	each_set(s, 0, s->p->base, 0);
}

/* ---- distinct contents ---- */

void contents_release(struct contents *c)
{
	vec_release(&c->bytes);
	vec_release(&c->nlost);
}

#define STRIDE (PMT_LINE_BYTES + 4u) /* and how many are lost, the highest byte first: sorting puts the fewest first */

static void contents_add(struct contents *c, const uint8_t *bytes, uint32_t nlost)
{
	uint32_t sortable = __builtin_bswap32(nlost);

	vec_reserve(&c->bytes, c->bytes.n + STRIDE);
	memcpy(c->bytes.at + c->bytes.n, bytes, PMT_LINE_BYTES);
	memcpy(c->bytes.at + c->bytes.n + PMT_LINE_BYTES, &sortable, 4);
	c->bytes.n += STRIDE;
	c->n++;
}

static void add_set(struct sets *s, const uint8_t *bytes, uint32_t nlost)
{
	contents_add(s->out, bytes, nlost);
}

static int row_compare(const void *a, const void *b)
{
	return memcmp(a, b, STRIDE);
}

/* Keeps the fewest lost of each; rows stay STRIDE apart. */
static void contents_sort(struct contents *c)
{
	uint8_t *at = c->bytes.at;
	size_t n = 0;

	qsort(at, c->n, STRIDE, row_compare);
	for (size_t i = 0; i < c->n; i++) {
		if (n > 0 && memcmp(at + (n - 1) * STRIDE, at + i * STRIDE, PMT_LINE_BYTES) == 0)
			continue;
		memmove(at + n++ * STRIDE, at + i * STRIDE, STRIDE);
	}
	c->n = n;
	c->bytes.n = n * STRIDE;
}

static uint32_t row_nlost(const uint8_t *row)
{
	uint32_t nlost;

	memcpy(&nlost, row + PMT_LINE_BYTES, 4);
	return __builtin_bswap32(nlost);
}

/* The fewest lost first: where not all combinations are listed, those near the newest are, and that one. */
static int nlost_compare(const void *a, const void *b)
{
	uint32_t x = row_nlost(a), y = row_nlost(b);

	return x != y ? (x > y) - (x < y) : memcmp(a, b, PMT_LINE_BYTES);
}

static void list_part(struct partial *p, uint32_t part, struct contents *c)
{
	struct sets s = { .p = p, .part = part, .f = add_set, .out = c };

	c->bytes.n = c->n = 0;
	list_sets(&s);
	contents_sort(c);
	qsort(c->bytes.at, c->n, STRIDE, nlost_compare);
	c->is_partial = s.is_partial;
}

static uint64_t part_touches(const struct partial *p, uint32_t part)
{
	uint64_t touched = 0;

	for (uint32_t i = 0; i < p->n; i++)
		touched |= p->nodes[i].part == part ? p->nodes[i].touched : 0;
	return touched;
}

/* Each row so far with each of the part's, as far as there is room. */
static void multiply(struct contents *all, const struct contents *part, uint64_t touched)
{
	struct contents product = { 0 };
	uint8_t bytes[PMT_LINE_BYTES];

	for (size_t i = 0; i < part->n; i++)
		for (size_t k = 0; k < all->n; k++) {
			const uint8_t *x = all->bytes.at + k * STRIDE, *y = part->bytes.at + i * STRIDE;

			if (product.n == MODEL_LINE_CONTENTS) {
				all->is_partial = true;
				break;
			}
			for (uint32_t b = 0; b < PMT_LINE_BYTES; b++)
				bytes[b] = touched >> b & 1 ? y[b] : x[b];
			contents_add(&product, bytes, row_nlost(x) + row_nlost(y));
		}
	vec_release(&all->bytes);
	all->bytes.at = product.bytes.at;
	all->bytes.n = product.bytes.n;
	all->bytes.room = product.bytes.room;
	all->n = product.n;
}

/* Only the asked bytes, once each. */
static void contents_cut(struct contents *c, uint64_t asked, uint32_t from, uint32_t to)
{
	uint8_t *at = c->bytes.at;

	for (size_t i = 0; i < c->n; i++)
		for (uint32_t b = 0; b < PMT_LINE_BYTES; b++)
			if (!(asked >> b & 1))
				at[i * STRIDE + b] = 0;
	contents_sort(c);
	vec_reserve(&c->nlost, c->n);
	for (size_t i = 0; i < c->n; i++) {
		c->nlost.at[i] = row_nlost(at + i * STRIDE);
		memmove(at + i * (to - from), at + i * STRIDE + from, to - from);
	}
}

void partial_list(const struct model *m, const struct line *l, uint32_t from, uint32_t to, struct contents *out)
{
	struct contents part = { 0 };
	struct partial p;

	(void)m;
	partial_init(&p, l, from, to);
	out->bytes.n = out->n = 0;
	out->ndistinct = 1;
	out->is_partial = false;
	contents_add(out, p.base, 0);
	for (uint32_t i = 0; i < p.nparts; i++) {
		uint64_t touched = part_touches(&p, i);

		if (!touched)
			continue; /* joined another */
		list_part(&p, i, &part);
		if (part.is_partial || p.is_partial || __builtin_mul_overflow(out->ndistinct, part.n, &out->ndistinct))
			out->ndistinct = UINT64_MAX;
		out->is_partial |= part.is_partial | p.is_partial;
		multiply(out, &part, touched);
	}
	contents_cut(out, p.asked, from, to);
	contents_release(&part);
	partial_release(&p);
}

/* ---- who is lost ---- */

static void note_best(struct sets *s, const uint8_t *bytes, uint32_t nlost)
{
	if (nlost >= s->best_nlost)
		return;
	for (uint32_t b = 0; b < PMT_LINE_BYTES; b++)
		if (s->touched >> b & 1 && bytes[b] != s->wanted[b])
			return;
	s->best_nlost = nlost;
	for (uint32_t i = 0; i < s->p->n; i++)
		if (s->p->nodes[i].part == s->part) {
			s->best[i / 64] &= ~((uint64_t)1 << i % 64);
			s->best[i / 64] |= (uint64_t)has(s->p->kept, i) << i % 64;
		}
}

static bool find_best(struct partial *p, const uint8_t *content, uint64_t *best)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < p->nparts; i++) {
		struct sets s = { .p = p, .part = i, .f = note_best, .wanted = content, .touched = part_touches(p, i), .best = best,
				  .best_nlost = UINT32_MAX };

		if (!s.touched)
			continue;
		all |= s.touched;
		list_sets(&s);
		if (s.best_nlost == UINT32_MAX)
			return false;
	}
	for (uint32_t b = 0; b < PMT_LINE_BYTES; b++)
		if (!(all >> b & 1) && content[b] != p->base[b])
			return false;
	return true;
}

bool partial_each_lost(const struct model *m, const struct line *l, const uint8_t *content,
		       void (*f)(const struct store *s, bool is_partly, void *arg), void *arg)
{
	struct partial p;
	uint64_t *best;
	bool is_found;

	(void)m;
	partial_init(&p, l, 0, PMT_LINE_BYTES);
	best = xcalloc(p.words, sizeof *best);
	is_found = find_best(&p, content, best);
	for (uint32_t i = 0, k; is_found && i < p.n; i = k) {
		uint32_t nlost = 0;

		for (k = i; k < p.n && p.nodes[k].first == p.nodes[i].first; k++)
			nlost += !has(best, k);
		for (const struct store *s = p.nodes[i].first; nlost > 0 && s <= p.nodes[i].last; s++)
			f(s, nlost < k - i, arg);
	}
	free(best);
	partial_release(&p);
	return is_found;
}

/* ---- what one keeps ---- */

bool model_is_partial_order(const struct model *m)
{
	return is_partial_order(m);
}

bool model_is_ported(const struct model *m)
{
	return m->platform->is_weak && !m->is_arm64;
}

static const struct node *newest_at(const struct partial *p, uint32_t byte)
{
	for (uint32_t i = p->n; i-- > 0;)
		if (p->nodes[i].touched >> byte & 1)
			return &p->nodes[i];
	return NULL;
}

uint64_t model_kept_with(const struct model *m, uint64_t addr)
{
	const struct line *l = line_find(m, addr);
	const struct node *it;
	uint64_t kept = 0;
	struct partial p;

	if (!l)
		return ~(uint64_t)0;
	partial_init(&p, l, 0, PMT_LINE_BYTES);
	it = newest_at(&p, (uint32_t)(addr - l->addr));
	for (uint32_t b = 0; b < PMT_LINE_BYTES; b++) {
		const struct node *n = newest_at(&p, b);
		bool is_kept = !n || n == it || (it && has(before_of(&p, (uint32_t)(it - p.nodes)), (uint32_t)(n - p.nodes)));

		kept |= (uint64_t)is_kept << b;
	}
	partial_release(&p);
	return kept;
}
