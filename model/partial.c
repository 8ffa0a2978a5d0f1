/* Lists the crash states of a line whose stores are partially ordered (arm64), or of which one has
 * many units (a string instruction of amd64). What survives is a set of units that contains, with
 * each unit, all units before it. Its content is the newest surviving unit in each byte.
 *
 * A unit comes before a later one if they overlap, if different threads stored them, or if a
 * barrier, a release, or an acquire after a release orders them (model.c). On amd64, it does if
 * both went through the cache. For example, on arm64
 *
 *	str a; str b; dmb; str c      a and b are unordered, both come before c
 *
 * survive as {}, {a}, {b}, {a b} or {a b c}: five states instead of the four of a sequence.
 *
 * Units that nothing connects are in different parts. Parts share no byte, so the contents of the
 * line are the product of theirs. For a question about some bytes, only the units that touch them
 * matter, in the order that the others hand on. */
#include "model/internal.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX 1024u /* only the newest units count; older ones are taken to survive */

/* A unit, or a run of stores that are lost or kept together. */
struct node {
	const struct store *first, *last; /* equal for a unit */
	uint8_t from, to;                 /* bytes of `first` */
	uint64_t touched;                 /* a bit per byte of the line */
	uint32_t part;
};

struct partial {
	const struct line *line;
	struct node *nodes; /* oldest first; only those that touch the asked bytes */
	uint32_t n, words;
	uint64_t *before; /* `words` words per node: the nodes before it */
	uint64_t *kept;   /* the set of kept nodes while sets are listed */
	uint64_t asked;   /* a bit per byte of the line */
	struct node *all; /* all nodes, if some do not touch the asked bytes; else NULL */
	uint32_t nall;
	uint64_t *before_all;
	uint32_t *number; /* index of each of `all` in nodes; UINT32_MAX if it is not there */
	uint8_t base[PMT_LINE_BYTES];
	uint32_t nparts;
	bool is_partial;
	/* amd64: non-temporal stores are unordered, even with those that they overlap */
	bool is_sequence;
};

static uint64_t touched_by(const struct store *s, uint32_t from, uint32_t to)
{
	return (low_bits(to) & ~low_bits(from)) << s->at;
}

/* ---- order ---- */

static bool store_is_before(const struct store *s, const struct store *later)
{
	return s->thread != later->thread || later->back == 0 ||
	       s->epoch + later->back <= later->epoch;
}

static bool node_is_before(const struct partial *p, const struct node *a, const struct node *b)
{
	if (a->first == b->first)
		return false; /* units of one store */
	if (p->is_sequence)
		return !store_is_unordered(a->first) && !store_is_unordered(b->first);
	if (a->touched & b->touched)
		return true;
	for (const struct store *s = a->first; s <= a->last; s++)
		for (const struct store *later = b->first; later <= b->last; later++)
			if (store_is_before(s, later))
				return true;
	return false;
}

static bool has_bit(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *set, uint32_t i)
{
	set[i / 64] |= (uint64_t)1 << i % 64;
}

static uint64_t *before_of(const struct partial *p, uint32_t i)
{
	return p->before + (size_t)i * p->words;
}

/* Computes which nodes come before which, directly or through others. */
static void order_nodes(struct partial *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t *mine = before_of(p, i);

		for (uint32_t k = i; k-- > 0;) {
			if (has_bit(mine, k) || !node_is_before(p, &p->nodes[k], &p->nodes[i]))
				continue;
			set_bit(mine, k);
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
	uint32_t end =
		s->unit_bytes ? ((s->at + from) | (s->unit_bytes - 1u)) + 1 - s->at : s->size_bytes;

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
				*vec_add(&all) = (struct node){
					s, s, (uint8_t)from, (uint8_t)to, touched_by(s, from, to), 0
				};
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
		skipped++; /* a store is left out as a whole */
	p->is_partial = skipped > 0;
	p->n = (uint32_t)(all.n - skipped);
	p->nodes = xcalloc(p->n + 1, sizeof *p->nodes);
	memcpy(p->nodes, all.at + skipped, p->n * sizeof *p->nodes);
	vec_release(&all);
}

/* Gives the bytes of the line that a crash could show from this node. */
static uint64_t node_live(const struct node *n)
{
	uint64_t live = 0;

	for (const struct store *s = n->first; s <= n->last; s++)
		live |= store_live(s) << s->at;
	return live & n->touched;
}

static void node_apply(const struct node *n, uint8_t *bytes)
{
	for (const struct store *s = n->first; s <= n->last; s++) {
		uint32_t from = n->first == n->last ? n->from : 0,
			 to = n->first == n->last ? n->to : s->size_bytes;

		for (uint32_t i = from; i < to; i++)
			if (store_live(s) >> i & 1)
				bytes[s->at + i] = store_bytes(s)[i];
	}
}

/* Removes the nodes that do not touch the asked bytes; the others keep the order that led through
 * them. */
static void drop_others(struct partial *p)
{
	p->all = p->nodes;
	p->nall = p->n;
	p->before_all = p->before;
	p->number = xcalloc(p->nall + 1, sizeof *p->number);
	p->nodes = xcalloc(p->nall + 1, sizeof *p->nodes);
	p->before = xcalloc((size_t)(p->nall + 1) * p->words, sizeof *p->before);
	p->n = 0;
	for (uint32_t i = 0; i < p->nall; i++) {
		p->number[i] = UINT32_MAX;
		if (!(p->all[i].touched & p->asked))
			continue;
		for (uint32_t k = 0; k < i; k++)
			if (has_bit(p->before_all + (size_t)i * p->words, k) &&
			    p->number[k] < UINT32_MAX)
				set_bit(before_of(p, p->n), p->number[k]);
		p->number[i] = p->n;
		p->nodes[p->n++] = p->all[i];
	}
}

static void number_parts(struct partial *p)
{
	p->nparts = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t part = p->nparts;

		for (uint32_t k = 0; k < i; k++) {
			uint32_t other = p->nodes[k].part;

			if ((!has_bit(before_of(p, i), k) &&
			     !(p->nodes[i].touched & p->nodes[k].touched)) ||
			    other == part)
				continue;
			if (part == p->nparts) {
				part = other;
				continue;
			}
			for (uint32_t j = 0; j < i; j++) /* it connects two parts */
				if (p->nodes[j].part == other)
					p->nodes[j].part = part;
		}
		p->nodes[i].part = part;
		p->nparts += part == p->nparts;
	}
}

#define ALL_BYTES (~(uint64_t)0)

static void partial_init(struct partial *p, const struct model *m, const struct line *l,
			 uint64_t asked)
{
	*p = (struct partial){ .line = l, .asked = asked, .is_sequence = !is_partial_order(m) };
	memcpy(p->base, l->base, sizeof p->base);
	make_nodes(p);
	if (p->is_partial)
		for (const struct store *s = l->stores; s < p->nodes[0].first; s++)
			node_apply(&(struct node){ s, s, 0, s->size_bytes, 0, 0 }, p->base);
	p->words = p->n / 64 + 1;
	p->before = xcalloc((size_t)(p->n + 1) * p->words, sizeof *p->before);
	p->kept = xcalloc(p->words, sizeof *p->kept);
	order_nodes(p);
	if (asked != ALL_BYTES)
		drop_others(p);
	number_parts(p);
}

static void partial_release(struct partial *p)
{
	free(p->nodes);
	free(p->before);
	free(p->kept);
	free(p->all);
	free(p->before_all);
	free(p->number);
}

/* ---- the sets of one part ---- */

struct sets {
	struct partial *p;
	uint32_t part;
	uint64_t nsets;
	bool is_partial;
	struct contents *out;
};

static uint32_t node_weight(const struct node *n)
{
	return (uint32_t)(n->last - n->first) + 1;
}

/* Is some node before it missing from the set? */
static bool lacks_one(const struct partial *p, const uint64_t *set, uint32_t node)
{
	for (uint32_t w = 0; w < p->words; w++)
		if (before_of(p, node)[w] & ~set[w])
			return true;
	return false;
}

static bool is_allowed(const struct partial *p, uint32_t i)
{
	return !lacks_one(p, p->kept, i);
}

/* ---- distinct contents ---- */

void contents_release(struct contents *c)
{
	vec_release(&c->bytes);
	vec_release(&c->nlost);
}

/* While contents are listed, a row consists of the bytes, the number of lost nodes (big-endian, so
 * sorting puts the fewest first), and the set of kept nodes. */
#define KEPT_AT (PMT_LINE_BYTES + 8u)

static void contents_begin(struct contents *c, const struct partial *p)
{
	c->bytes.n = c->n = 0;
	c->stride = KEPT_AT + p->words * 8u;
	c->is_partial = false;
}

static uint8_t *contents_add(struct contents *c, const uint8_t *bytes, uint32_t nlost,
			     const uint64_t *kept)
{
	uint32_t sortable = __builtin_bswap32(nlost);
	uint8_t *row;

	vec_reserve(&c->bytes, c->bytes.n + c->stride);
	row = c->bytes.at + c->bytes.n;
	memset(row, 0, KEPT_AT);
	memcpy(row, bytes, PMT_LINE_BYTES);
	memcpy(row + PMT_LINE_BYTES, &sortable, 4);
	memcpy(row + KEPT_AT, kept, c->stride - KEPT_AT);
	c->bytes.n += c->stride;
	c->n++;
	return row;
}

/* Keeps or drops one node after the other; each leaf is a different set. The first set keeps all
 * nodes. */
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
		contents_add(s->out, bytes, nlost, p->kept);
		return;
	}
	memcpy(with, bytes, sizeof with);
	node_apply(&p->nodes[i], with);
	set_bit(p->kept, i);
	each_set(s, i + 1, with, nlost);
	p->kept[i / 64] &= ~((uint64_t)1 << i % 64);
	each_set(s, i + 1, bytes, nlost + node_weight(&p->nodes[i]));
}

static void list_sets(struct sets *s)
{
	memset(s->p->kept, 0, s->p->words * sizeof *s->p->kept);
	each_set(s, 0, s->p->base, 0);
}

/* Sorts, and keeps of equal contents the one that loses least. The distance between rows stays. */
static void contents_sort(struct contents *c)
{
	uint8_t *at = c->bytes.at;
	size_t n = 0;

	qsort_r(at, c->n, c->stride, row_compare, &c->stride);
	for (size_t i = 0; i < c->n; i++) {
		if (n > 0 &&
		    memcmp(at + (n - 1) * c->stride, at + i * c->stride, PMT_LINE_BYTES) == 0)
			continue;
		memmove(at + n++ * c->stride, at + i * c->stride, c->stride);
	}
	c->n = n;
	c->bytes.n = n * c->stride;
}

static uint32_t row_nlost(const uint8_t *row)
{
	uint32_t nlost;

	memcpy(&nlost, row + PMT_LINE_BYTES, 4);
	return __builtin_bswap32(nlost);
}

/* Orders rows by lost nodes: if not all combinations can be listed, the states close to the newest
 * are. */
static int nlost_compare(const void *a, const void *b)
{
	uint32_t x = row_nlost(a), y = row_nlost(b);

	return x != y ? (x > y) - (x < y) : memcmp(a, b, PMT_LINE_BYTES);
}

static void list_part(struct partial *p, uint32_t part, struct contents *c)
{
	struct sets s = { .p = p, .part = part, .out = c };

	contents_begin(c, p);
	list_sets(&s);
	contents_sort(c);
	qsort(c->bytes.at, c->n, c->stride, nlost_compare);
	c->is_partial = s.is_partial;
}

static uint64_t part_touches(const struct partial *p, uint32_t part)
{
	uint64_t touched = 0;

	for (uint32_t i = 0; i < p->n; i++)
		touched |= p->nodes[i].part == part ? p->nodes[i].touched : 0;
	return touched;
}

/* Combines each row of `all` with each row of the part, which has the bytes `touched`. Stops at
 * MODEL_LINE_CONTENTS rows. */
static void multiply_contents(struct contents *all, const struct contents *part, uint64_t touched)
{
	struct contents product = { .stride = all->stride };
	uint8_t bytes[PMT_LINE_BYTES];

	for (size_t i = 0; i < part->n; i++)
		for (size_t k = 0; k < all->n; k++) {
			const uint8_t *x = all->bytes.at + k * all->stride,
				      *y = part->bytes.at + i * all->stride;
			uint8_t *row;

			if (product.n == MODEL_LINE_CONTENTS) {
				all->is_partial = true;
				break;
			}
			for (uint32_t b = 0; b < PMT_LINE_BYTES; b++)
				bytes[b] = touched >> b & 1 ? y[b] : x[b];
			row = contents_add(&product, bytes, row_nlost(x) + row_nlost(y),
					   (const uint64_t *)(x + KEPT_AT));
			for (uint32_t b = KEPT_AT; b < all->stride; b++)
				row[b] |= y[b];
		}
	vec_release(&all->bytes);
	all->bytes.at = product.bytes.at;
	all->bytes.n = product.bytes.n;
	all->bytes.room = product.bytes.room;
	all->n = product.n;
}

/* Zeroes the bytes that are not asked for, and drops duplicates. */
static void contents_mask(struct contents *c, uint64_t asked)
{
	for (size_t i = 0; i < c->n; i++)
		for (uint32_t b = 0; b < PMT_LINE_BYTES; b++)
			if (!(asked >> b & 1))
				c->bytes.at[i * c->stride + b] = 0;
	contents_sort(c);
}

/* Reduces the rows to their bytes [from, to). */
static void contents_cut(struct contents *c, uint32_t from, uint32_t to)
{
	uint8_t *at = c->bytes.at;

	vec_reserve(&c->nlost, c->n);
	for (size_t i = 0; i < c->n; i++) {
		c->nlost.at[i] = row_nlost(at + i * c->stride);
		memmove(at + i * (to - from), at + i * c->stride + from, to - from);
	}
}

static void count_part(struct contents *out, const struct contents *part, const struct partial *p)
{
	if (part->is_partial || p->is_partial ||
	    __builtin_mul_overflow(out->ndistinct, part->n, &out->ndistinct))
		out->ndistinct = UINT64_MAX;
	out->is_partial |= part->is_partial | p->is_partial;
}

/* Lists a row for each value of the asked bytes. */
static void list_rows(struct partial *p, struct contents *out)
{
	struct contents part = { 0 };

	contents_begin(out, p);
	out->ndistinct = 1;
	memset(p->kept, 0, p->words * sizeof *p->kept);
	contents_add(out, p->base, 0, p->kept);
	for (uint32_t i = 0; i < p->nparts; i++) {
		uint64_t touched = part_touches(p, i);

		if (!touched)
			continue; /* an empty part: it was joined to another */
		list_part(p, i, &part);
		count_part(out, &part, p);
		multiply_contents(out, &part, touched);
	}
	contents_mask(out, p->asked);
	contents_release(&part);
}

void partial_list(const struct model *m, const struct line *l, uint32_t from, uint32_t to,
		  struct contents *out)
{
	struct partial p;

	partial_init(&p, m, l, low_bits(to) & ~low_bits(from));
	list_rows(&p, out);
	contents_cut(out, from, to);
	partial_release(&p);
}

uint64_t partial_ncontents(const struct model *m, const struct line *l)
{
	struct contents part = { 0 }, sum = { .ndistinct = 1 };
	struct partial p;

	partial_init(&p, m, l, ALL_BYTES);
	for (uint32_t i = 0; i < p.nparts; i++)
		if (part_touches(&p, i)) {
			list_part(&p, i, &part);
			count_part(&sum, &part, &p);
		}
	contents_release(&part);
	partial_release(&p);
	return sum.ndistinct;
}

/* Asks whether all nodes are kept that come before node i and touch the asked bytes. */
static bool is_possible(const struct partial *p, uint32_t i, const uint64_t *kept)
{
	for (uint32_t k = 0; k < i; k++)
		if (has_bit(p->before_all + (size_t)i * p->words, k) && p->number[k] < UINT32_MAX &&
		    !has_bit(kept, p->number[k]))
			return false;
	return true;
}

/* Fills in the whole line: keeps these nodes of those that touch the asked bytes, and as many of
 * the others as possible. Gives the number of lost nodes. */
static uint32_t fill_in_line(const struct partial *p, const uint64_t *kept, uint8_t *bytes)
{
	uint32_t nlost = 0;

	memcpy(bytes, p->base, PMT_LINE_BYTES);
	for (uint32_t i = 0; i < p->nall; i++)
		if (p->number[i] < UINT32_MAX ? has_bit(kept, p->number[i])
					      : is_possible(p, i, kept))
			node_apply(&p->all[i], bytes);
		else
			nlost += node_weight(&p->all[i]);
	return nlost;
}

void partial_contents(const struct model *m, const struct line *l, size_t max, uint64_t asked,
		      struct contents *out)
{
	uint64_t touched = 0;
	struct partial p;

	for (const struct store *s = l->stores; s < line_end(l); s++)
		touched |= store_live(s) << s->at;
	asked |= ~touched;
	if (asked == ALL_BYTES || partial_ncontents(m, l) <= max)
		asked = ALL_BYTES;
	partial_init(&p, m, l, asked);
	list_rows(&p, out);
	for (size_t i = 0; asked != ALL_BYTES && i < out->n; i++) {
		uint8_t *row = out->bytes.at + i * out->stride;
		uint32_t sortable =
			__builtin_bswap32(fill_in_line(&p, (const uint64_t *)(row + KEPT_AT), row));

		memcpy(row + PMT_LINE_BYTES, &sortable, 4);
	}
	contents_cut(out, 0, PMT_LINE_BYTES);
	out->asked = asked;
	partial_release(&p);
}

/* ---- which stores are lost ---- */

/* Gives the newest node of the set that has a live byte here; p->n if there is none. */
static uint32_t shown_by(const struct partial *p, const uint64_t *set, uint32_t byte)
{
	for (uint32_t i = p->n; i-- > 0;)
		if (has_bit(set, i) && node_live(&p->nodes[i]) >> byte & 1)
			return i;
	return p->n;
}

static void take_out(const struct partial *p, uint64_t *set, uint32_t node)
{
	for (uint32_t i = node; i < p->n; i++)
		if (i == node || has_bit(before_of(p, i), node))
			set[i / 64] &= ~((uint64_t)1 << i % 64);
}

/* Finds the largest set of nodes that shows a content. If two sets show it, so does their union,
 * because in each byte it shows what one of them shows; so there is a largest set, which loses
 * least. Starts with all nodes, and removes those that show something else, with all nodes after
 * them, until none does. False if no set shows the content. */
static bool find_best(const struct partial *p, const uint8_t *content, uint64_t *best)
{
	bool is_wrong = true;

	for (uint32_t i = 0; i < p->n; i++)
		set_bit(best, i);
	while (is_wrong) {
		is_wrong = false;
		for (uint32_t b = 0; b < PMT_LINE_BYTES; b++) {
			uint8_t bytes[PMT_LINE_BYTES];
			uint32_t i = shown_by(p, best, b);

			if (i == p->n) {
				if (content[b] != p->base[b])
					return false;
				continue;
			}
			node_apply(&p->nodes[i], bytes);
			if (bytes[b] == content[b])
				continue;
			take_out(p, best, i);
			is_wrong = true;
		}
	}
	return true;
}

bool partial_each_lost(const struct model *m, const struct line *l, const uint8_t *content,
		       void (*f)(const struct store *s, bool is_partly, bool is_free, void *arg),
		       void *arg)
{
	struct partial p;
	uint64_t *best;
	bool is_found;

	partial_init(&p, m, l, ALL_BYTES);
	best = xcalloc(p.words, sizeof *best);
	is_found = find_best(&p, content, best);
	for (uint32_t i = 0, k; is_found && i < p.n; i = k) {
		bool is_free = false;
		uint32_t nlost = 0;

		for (k = i; k < p.n && p.nodes[k].first == p.nodes[i].first; k++) {
			nlost += !has_bit(best, k);
			is_free |= !has_bit(best, k) && !lacks_one(&p, best, k);
		}
		for (const struct store *s = p.nodes[i].first; nlost > 0 && s <= p.nodes[i].last;
		     s++)
			f(s, nlost < k - i, is_free, arg);
	}
	free(best);
	partial_release(&p);
	return is_found;
}

/* ---- bytes that are kept together ---- */

bool model_is_partial_order(const struct model *m)
{
	return is_partial_order(m);
}

bool model_is_late(const struct model *m)
{
	return is_late(m);
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
	partial_init(&p, m, l, ALL_BYTES);
	it = newest_at(&p, (uint32_t)(addr - l->addr));
	for (uint32_t b = 0; b < PMT_LINE_BYTES; b++) {
		const struct node *n = newest_at(&p, b);
		bool is_kept = !n || n == it ||
			       (it && has_bit(before_of(&p, (uint32_t)(it - p.nodes)),
					      (uint32_t)(n - p.nodes)));

		kept |= (uint64_t)is_kept << b;
	}
	partial_release(&p);
	return kept;
}
