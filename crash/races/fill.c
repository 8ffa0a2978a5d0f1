/* Fills the words that recovery reads undefined with patterns, and with values that the program
 * stored nearby. Some words matter only if they have a certain value, for example a magic number;
 * that value is most likely found in another object. */
#include "crash/races/fill.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NEARBY_BYTES 4096u /* on each side of a word */
#define NEARBY_MAX 64u     /* different values */
#define NEARBY_RUNS 2u

enum pattern { PATTERN_COMPLEMENT, PATTERN_RANDOM, PATTERN_SMALL, PATTERNS };

struct nearby {
	uint64_t value;
	uint32_t count;
};

struct word {
	uint8_t *bytes; /* in the set */
	uint64_t addr, was;
	uint32_t len_bytes;
	VEC(struct nearby) nearby; /* the most frequent first */
};

struct fill {
	struct explorer *e;
	const uint64_t *state;
	VEC(struct word) words;
	VEC(struct run_gap) gaps;
	bool has_nearby;
};

/* ---- values that are stored nearby ---- */

static void state_read(const struct fill *f, uint64_t addr, uint8_t *to, uint32_t len_bytes)
{
	const struct state_set *s = &f->e->set;

	for (uint32_t i = 0; i < len_bytes; i++) {
		const struct state_line *l = states_line(s, addr + i);

		if (l)
			to[i] = state_content(s, l,
					      states_newest_left(l, f->state))[addr + i - l->addr];
		else
			image_read(&f->e->walk->image, addr + i, &to[i], 1);
	}
}

/* Was the byte at addr stored to by the program? Bytes that an allocator has taken back since then
 * count as well. */
static bool is_stored(const struct fill *f, uint64_t addr)
{
	return shadow_byte(f->e->walk->shadow, addr).last.seq > 0;
}

static void add_nearby(const struct fill *f, struct word *w, uint64_t addr)
{
	uint64_t value = 0;

	if (!is_stored(f, addr))
		return;
	state_read(f, addr, (uint8_t *)&value, w->len_bytes);
	if (value == 0 || value == w->was)
		return;
	for (size_t i = 0; i < w->nearby.n; i++)
		if (w->nearby.at[i].value == value) {
			w->nearby.at[i].count++;
			return;
		}
	if (w->nearby.n < NEARBY_MAX)
		*vec_add(&w->nearby) = (struct nearby){ value, 1 };
}

static int compare_nearby(const void *a, const void *b)
{
	const struct nearby *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* Collects values of the same width and alignment near the word. */
static void find_nearby(struct fill *f, struct word *w)
{
	const uint64_t file_end = PMT_ADDR(
		PMT_FILE(w->addr), image_file(&f->e->walk->image, PMT_FILE(w->addr))->size_bytes);

	for (uint64_t at = w->len_bytes; at < NEARBY_BYTES; at += w->len_bytes) {
		if (w->addr + at + w->len_bytes <= file_end)
			add_nearby(f, w, w->addr + at);
		if (at <= PMT_OFFSET(w->addr))
			add_nearby(f, w, w->addr - at);
	}
	if (w->nearby.n > 0)
		qsort(w->nearby.at, w->nearby.n, sizeof *w->nearby.at, compare_nearby);
	f->has_nearby |= w->nearby.n > 0;
}

/* ---- contents ---- */

static uint64_t mixed(uint64_t n)
{
	n = (n + 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	return n ^ n >> 29;
}

static uint64_t filling(const struct word *w, enum pattern how)
{
	switch (how) {
	case PATTERN_COMPLEMENT: return ~w->was;
	case PATTERN_RANDOM: return mixed(w->addr) | 0x0101010101010101u;
	case PATTERN_SMALL: return w->was == 0;
	case PATTERNS: break;
	}
	BUG("pattern %d", (int)how);
}

/* Gives a nearby value: the most frequent first, then others, which differ from failure point to
 * failure point. The choice does not depend on which other words are filled. */
static uint64_t nearby_value(const struct fill *f, const struct word *w, uint32_t n)
{
	const uint64_t turn = f->e->walk->point * (NEARBY_RUNS - 1) + n + w->addr / w->len_bytes;

	return w->nearby.at[n == 0 || w->nearby.n == 1 ? 0 : 1 + turn % (w->nearby.n - 1)].value;
}

/* Fills all words with content n: patterns, then from PATTERNS on nearby values. */
static void fill(struct fill *f, uint32_t n)
{
	for (size_t i = 0; i < f->words.n; i++) {
		const struct word *w = &f->words.at[i];
		uint64_t value = w->was;

		if (n < PATTERNS)
			value = filling(w, (enum pattern)n);
		else if (w->nearby.n > 0)
			value = nearby_value(f, w, n - PATTERNS);
		memcpy(w->bytes, &value, w->len_bytes);
	}
}

static void restore(struct fill *f)
{
	for (size_t i = 0; i < f->words.n; i++)
		memcpy(f->words.at[i].bytes, &f->words.at[i].was, f->words.at[i].len_bytes);
}

static void add_word(struct fill *f, const struct suspect *s)
{
	struct state_set *set = &f->e->set;
	const struct state_line *l = states_line(set, s->addr);
	const uint32_t at = s->at + (uint32_t)__builtin_ctzll(s->mask);
	struct word w = { .addr = s->addr + at,
			  .len_bytes = (uint32_t)__builtin_popcountll(s->mask) };

	if (!l)
		BUG("a line that is not in the set");
	w.bytes = set->bytes.at + l->contents +
		  (size_t)states_newest_left(l, f->state) * set->line_bytes + at;
	memcpy(&w.was, w.bytes, w.len_bytes);
	*vec_add(&f->words) = w;
	*vec_add(&f->gaps) = (struct run_gap){ w.addr, w.len_bytes };
}

/* ---- runs ---- */

struct ending {
	enum verdict_kind kind;
	bool is_unsound;
	uint64_t outcome, site, beside;
};

/* Runs recovery. With a dump, only its output counts. What a run left that reached its time limit
 * depends on the moment, so it does not count. */
static int run(struct fill *f, struct ending *end, char **text, struct error *err)
{
	struct explorer *e = f->e;
	struct verdict v;

	runner_load(e->runner, &e->walk->image, &e->set);
	if (explorer_try(e, f->state, &v, err) < 0)
		return -1;
	*end = (struct ending){ v.kind, v.why_unsound != NULL, v.outcome, v.site,
				e->recovery->dump || verdict_is_slow(&v)
					? 0
					: runner_content_beside(e->runner, f->gaps.at, f->gaps.n) };
	free(*text);
	*text = verdict_text(&v);
	return 0;
}

static bool is_same(const struct ending *a, const struct ending *b)
{
	return a->kind == b->kind && a->outcome == b->outcome && a->site == b->site &&
	       a->beside == b->beside;
}

static char *difference(const struct fill *f, const struct ending *before,
			const struct ending *after, const char *text)
{
	uint64_t value = 0;

	memcpy(&value, f->words.at[0].bytes, f->words.at[0].len_bytes);
	if (before->kind != after->kind || after->kind != VERDICT_OK)
		return xasprintf("with 0x%" PRIx64 " there, recovery ends otherwise: %s", value,
				 text);
	return xasprintf("with 0x%" PRIx64 " there, recovery %s", value,
			 before->outcome != after->outcome ? "prints something else"
							   : "leaves something else in the pool");
}

/* Tries one content. A recovery that prints the time, for example, ends differently each time; that
 * is noticed by a second run. */
static enum filled try_one(struct fill *f, const struct ending *as_is, uint32_t n, char **how,
			   struct error *err)
{
	struct ending other, again;
	char *text = NULL, *found = NULL;
	enum filled result = FILLED_ERROR;

	fill(f, n);
	if (run(f, &other, &text, err) == 0)
		result = other.is_unsound         ? FILLED_UNKNOWN
			 : is_same(as_is, &other) ? FILLED_SAME
						  : FILLED_DIFFERS;
	if (result == FILLED_DIFFERS)
		found = difference(f, as_is, &other, text);
	restore(f);
	if (result == FILLED_DIFFERS && run(f, &again, &text, err) < 0)
		result = FILLED_ERROR;
	else if (result == FILLED_DIFFERS && (again.is_unsound || !is_same(as_is, &again)))
		result = FILLED_UNKNOWN;
	if (result == FILLED_DIFFERS)
		*how = found;
	else
		free(found);
	free(text);
	return result;
}

static enum filled try_all(struct fill *f, char **how, struct error *err)
{
	const uint32_t n = PATTERNS + (f->has_nearby ? NEARBY_RUNS : 0);
	enum filled result = FILLED_SAME;
	struct ending as_is;
	char *text = NULL;

	if (run(f, &as_is, &text, err) < 0)
		result = FILLED_ERROR;
	else if (as_is.is_unsound)
		result = FILLED_UNKNOWN;
	free(text);
	for (uint32_t i = 0; i < n && result == FILLED_SAME; i++)
		result = explorer_may_run(f->e) ? try_one(f, &as_is, i, how, err) : FILLED_UNKNOWN;
	return result;
}

enum filled fill_try(struct explorer *e, const uint64_t *state, const struct suspects *words,
		     char **how, struct error *err)
{
	struct fill f = { .e = e, .state = state };
	enum filled result;

	*how = NULL;
	for (size_t i = 0; i < words->n; i++)
		add_word(&f, &words->at[i]);
	for (size_t i = 0; i < f.words.n; i++)
		find_nearby(&f, &f.words.at[i]);
	result = try_all(&f, how, err);
	runner_load(e->runner, &e->walk->image, &e->set);
	for (size_t i = 0; i < f.words.n; i++)
		vec_release(&f.words.at[i].nearby);
	vec_release(&f.words);
	vec_release(&f.gaps);
	return result;
}
