/* Collects the lines that have several possible contents at a failure point, and handles sets of
 * crash states. A set is a bit set with one bit per content of each line. */
#include "crash/states/states.h"

#include <string.h>

/* Sorts contents by how much they lose, most first. The model sorts them by bytes, which decides
 * between equals. */
struct order {
	const struct model_choice *choice;
	uint32_t i;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	uint32_t m = x->choice->nlost[x->i], n = y->choice->nlost[y->i];

	return m != n ? (m < n) - (m > n) : (x->i > y->i) - (x->i < y->i);
}

struct collecting {
	struct state_set *set;
	const struct states_asked *asked;
};

static void add_line(const struct model_choice *c, void *arg)
{
	struct order *order = xcalloc(c->ncontents, sizeof *order);
	struct state_set *s = ((struct collecting *)arg)->set;
	struct state_line *l = vec_add(&s->lines);

	*l = (struct state_line){ .addr = c->addr,
				  .ncontents = (uint32_t)c->ncontents,
				  .words = (uint32_t)((c->ncontents + 63) / 64),
				  .contents = s->bytes.n,
				  .set = s->nwords,
				  .asked = c->asked };
	s->nwords += l->words;
	s->is_partial |= c->is_partial;
	for (uint32_t i = 0; i < c->ncontents; i++)
		order[i] = (struct order){ c, i };
	qsort(order, c->ncontents, sizeof *order, order_compare);
	vec_reserve(&s->bytes, s->bytes.n + c->ncontents * c->len_bytes);
	for (uint32_t i = 0; i < c->ncontents; i++) {
		memcpy(s->bytes.at + s->bytes.n, c->contents + (size_t)order[i].i * c->len_bytes,
		       c->len_bytes);
		s->bytes.n += c->len_bytes;
	}
	free(order);
}

void states_asked_release(struct states_asked *a)
{
	map_release(&a->by_line);
	a->is_all = false;
}

void states_ask(struct states_asked *a, uint64_t line, uint64_t bytes)
{
	map_set(&a->by_line, line, (void *)((uint64_t)map_get(&a->by_line, line) | bytes));
}

static uint64_t asked_of(uint64_t addr, void *arg)
{
	const struct states_asked *asked = ((struct collecting *)arg)->asked;

	return !asked || asked->is_all ? ~(uint64_t)0 : (uint64_t)map_get(&asked->by_line, addr);
}

bool states_is_asked(const struct state_set *s)
{
	for (size_t i = 0; i < s->lines.n; i++)
		if (s->lines.at[i].asked != ~(uint64_t)0)
			return true;
	return false;
}

void states_collect_newest(struct state_set *s, const struct model *m)
{
	states_collect(s, m, &(struct states_asked){ 0 });
}

void states_collect(struct state_set *s, const struct model *m, const struct states_asked *asked)
{
	s->lines.n = s->bytes.n = s->watches.n = s->nwords = 0;
	map_release(&s->by_addr);
	s->is_partial = false;
	s->line_bytes = model_platform(m)->line_bytes;
	model_each_asked(m, STATES_LISTED, asked_of, add_line, &(struct collecting){ s, asked });
}

void states_release(struct state_set *s)
{
	vec_release(&s->lines);
	vec_release(&s->bytes);
	vec_release(&s->watches);
	map_release(&s->by_addr);
}

static int compare_lines(const void *a, const void *b)
{
	const struct state_line *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

void states_sort(struct state_set *s)
{
	map_release(&s->by_addr);
	if (s->lines.n > 0)
		qsort(s->lines.at, s->lines.n, sizeof *s->lines.at, compare_lines);
}

const struct state_line *states_line(const struct state_set *s, uint64_t addr)
{
	struct state_line key = { .addr = addr / s->line_bytes * s->line_bytes };

	return s->lines.n ? bsearch(&key, s->lines.at, s->lines.n, sizeof key, compare_lines)
			  : NULL;
}

static struct state_line *add_durable(struct state_set *s, const struct crash_image *im,
				      uint64_t addr)
{
	struct state_line *l = vec_add(&s->lines);

	map_set(&s->by_addr, addr, (void *)s->lines.n);
	*l = (struct state_line){ .addr = addr,
				  .ncontents = 1,
				  .words = 1,
				  .contents = s->bytes.n,
				  .set = s->nwords++,
				  .asked = ~(uint64_t)0 };
	vec_reserve(&s->bytes, s->bytes.n + s->line_bytes);
	image_read(im, addr, s->bytes.at + s->bytes.n, s->line_bytes);
	s->bytes.n += s->line_bytes;
	return l;
}

static struct state_line *find_line(struct state_set *s, uint64_t addr)
{
	const bool is_new = s->by_addr.n == 0;
	size_t at;

	for (size_t i = 0; is_new && i < s->lines.n; i++)
		map_set(&s->by_addr, s->lines.at[i].addr, (void *)(i + 1));
	at = (size_t)map_get(&s->by_addr, addr);
	return at ? &s->lines.at[at - 1] : NULL;
}

void states_watch(struct state_set *s, const struct crash_image *im, uint64_t addr, uint64_t mask)
{
	uint64_t line = addr / s->line_bytes * s->line_bytes;
	const struct crash_file *f = image_file(im, PMT_FILE(addr));
	struct state_line *l;

	if (!f || !f->path || !f->exists || PMT_OFFSET(line) >= f->size_bytes)
		return;
	l = find_line(s, line);
	if (!l)
		l = add_durable(s, im, line);
	if (!l->is_watched) {
		l->is_watched = true;
		l->watch = s->watches.n;
		for (uint32_t i = 0; i < WATCH_BYTES; i++)
			*vec_add(&s->watches) = 0;
	}
	for (; mask; mask &= mask - 1) {
		uint64_t i = addr - line + (uint64_t)__builtin_ctzll(mask);

		if (i < s->line_bytes)
			s->watches.at[l->watch + i / 8] |= (uint8_t)(1u << i % 8);
	}
}

uint64_t *states_all(const struct state_set *s)
{
	uint64_t *set = xcalloc(s->nwords + 1, sizeof *set);

	for (size_t i = 0; i < s->lines.n; i++)
		for (uint32_t w = 0; w < s->lines.at[i].words; w++)
			set[s->lines.at[i].set + w] = states_word(&s->lines.at[i], w);
	return set;
}

uint64_t *states_newest(const struct state_set *s)
{
	uint64_t *set = xcalloc(s->nwords + 1, sizeof *set);

	for (size_t i = 0; i < s->lines.n; i++)
		bit_put(set + s->lines.at[i].set, s->lines.at[i].ncontents - 1, true);
	return set;
}

uint64_t *states_copy(const struct state_set *s, const uint64_t *set)
{
	uint64_t *copy = xcalloc(s->nwords + 1, sizeof *copy);

	memcpy(copy, set, s->nwords * sizeof *copy);
	return copy;
}

uint32_t states_left(const struct state_line *l, const uint64_t *set)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < l->words; w++)
		n += (uint32_t)__builtin_popcountll(set[l->set + w]);
	return n;
}

bool bits_newest(const uint64_t *left, uint32_t words, uint32_t *newest)
{
	while (words > 0 && !left[words - 1])
		words--;
	if (words > 0)
		*newest = words * 64 - 1 - (uint32_t)__builtin_clzll(left[words - 1]);
	return words > 0;
}

uint32_t states_newest_left(const struct state_line *l, const uint64_t *set)
{
	uint32_t newest = 0;

	bits_newest(set + l->set, l->words, &newest);
	return newest;
}

void states_only(const struct state_line *l, uint64_t *set, uint32_t content)
{
	memset(set + l->set, 0, l->words * sizeof *set);
	bit_put(set + l->set, content, true);
}

/* Does the product fit? Small factors are multiplied first, because multiplying a `struct big` is
 * slow. */
static bool fits(uint32_t product, uint32_t factor)
{
	return (uint64_t)product * factor <= UINT32_MAX;
}

void states_count(const struct state_set *s, const uint64_t *set, struct big *n)
{
	uint32_t product = 1;

	big_set(n, 1);
	for (size_t i = 0; i < s->lines.n; i++) {
		const uint32_t left = states_left(&s->lines.at[i], set);

		if (!fits(product, left)) {
			big_multiply(n, product);
			product = 1;
		}
		product *= left;
	}
	big_multiply(n, product);
}

void states_count_left(const struct state_set *s, const uint64_t *set, const struct big *all,
		       struct big *n)
{
	uint32_t product = 1, divisor = 1;
	size_t nnarrowed = 0;

	for (size_t i = 0; i < s->lines.n; i++)
		nnarrowed += states_left(&s->lines.at[i], set) < s->lines.at[i].ncontents;
	if (nnarrowed > s->lines.n / 2) {
		states_count(s, set, n);
		return;
	}
	big_copy(n, all);
	for (size_t i = 0; i < s->lines.n; i++) {
		const uint32_t ncontents = s->lines.at[i].ncontents,
			       left = states_left(&s->lines.at[i], set);

		if (left == ncontents)
			continue;
		if (!fits(divisor, ncontents)) {
			big_divide(n, divisor);
			big_multiply(n, product);
			divisor = product = 1;
		}
		divisor *= ncontents; /* the product is at most as large */
		product *= left;
	}
	big_divide(n, divisor);
	big_multiply(n, product);
}
