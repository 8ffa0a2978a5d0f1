/* Compares sets of states with losses that are known to fail. The narrowed lines of a set show what
 * all its states lose: if a line's newest content is excluded, the state loses at least what all
 * remaining contents of the line lose. Stores of one place of the program count as one. */
#include "crash/search/known_losses.h"

#include <string.h>

void known_losses_release(struct known_losses *k)
{
	vec_release(&k->list);
}

/* ---- what a content loses ---- */

struct places {
	uint32_t list[KNOWN_PLACES_MAX];
	uint32_t n;
	bool is_overfull;
};

static void add_place(const struct model_lost *lost, void *arg)
{
	const uint32_t site = lost->site ? lost->site->id : 0;
	struct places *p = arg;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->list[i] == site)
			return;
	if (p->n == KNOWN_PLACES_MAX)
		p->is_overfull = true;
	else
		p->list[p->n++] = site;
}

struct search {
	uint32_t site;
	bool is_found;
};

static void look_for_place(const struct model_lost *lost, void *arg)
{
	struct search *s = arg;

	s->is_found |= (lost->site ? lost->site->id : 0) == s->site;
}

static bool content_loses(const struct state_set *s, const struct model *m,
			  const struct state_line *l, uint32_t content, uint32_t site)
{
	struct search search = { .site = site };

	model_each_lost(m, l->addr, state_content(s, l, content), look_for_place, &search);
	return search.is_found;
}

/* Do all contents left of the line lose the place? If the line's stores are in a total order, the
 * newest content loses least. */
static bool line_loses(const struct state_set *s, const struct model *m, const struct narrowing *n,
		       uint32_t site)
{
	const struct state_line *l = &s->lines.at[n->line];
	uint32_t newest;

	if (!bits_newest(n->left, l->words, &newest) || newest == l->ncontents - 1 ||
	    !content_loses(s, m, l, newest, site))
		return false;
	for (uint32_t c = 0; c < newest && model_is_partial_order(m); c++)
		if (bit_get(n->left, c) && !content_loses(s, m, l, c, site))
			return false;
	return true;
}

static bool set_loses(const struct state_set *s, const struct model *m, const struct narrowing *n,
		      uint32_t site)
{
	for (; n; n = n->before)
		if (line_loses(s, m, n, site))
			return true;
	return false;
}

/* ---- losses ---- */

static bool has_place(const struct known_loss *k, uint32_t site)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->lost[i] == site)
			return true;
	return false;
}

static bool is_same(const struct known_loss *a, const struct known_loss *b)
{
	if (a->n != b->n || a->survived != b->survived)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!has_place(b, a->lost[i]))
			return false;
	return true;
}

bool known_losses_add(struct known_losses *k, const struct state_set *s, const struct model *m,
		      const uint64_t *state, uint32_t survived)
{
	struct known_loss loss = { .survived = survived };
	struct places places = { 0 };

	for (size_t i = 0; i < s->lines.n; i++) {
		const struct state_line *l = &s->lines.at[i];
		const uint32_t content = states_newest_left(l, state);

		if (content < l->ncontents - 1)
			model_each_lost(m, l->addr, state_content(s, l, content), add_place,
					&places);
	}
	if (places.is_overfull)
		return false;
	loss.n = places.n;
	memcpy(loss.lost, places.list, sizeof loss.lost);
	for (size_t i = 0; i < k->list.n; i++)
		if (is_same(&k->list.at[i], &loss))
			return false;
	*vec_add(&k->list) = loss;
	return true;
}

struct comparison {
	const struct known_loss *known;
	bool has_known, has_other;
};

static void compare_place(const struct model_lost *lost, void *arg)
{
	struct comparison *c = arg;

	if (has_place(c->known, lost->site ? lost->site->id : 0))
		c->has_known = true;
	else
		c->has_other = true;
}

/* Does a line lose stores of other places, too? They return together with the known ones, and
 * another bug may be about them. */
static bool loses_more(const struct known_loss *k, const struct state_set *s, const struct model *m,
		       const struct narrowing *n)
{
	for (; n; n = n->before) {
		const struct state_line *l = &s->lines.at[n->line];
		struct comparison c = { .known = k };
		uint32_t newest;

		if (!bits_newest(n->left, l->words, &newest) || newest == l->ncontents - 1)
			continue;
		model_each_lost(m, l->addr, state_content(s, l, newest), compare_place, &c);
		if (c.has_known && c.has_other)
			return true;
	}
	return false;
}

static bool is_repeated(const struct known_loss *k, const struct state_set *s,
			const struct model *m, const struct narrowing *narrowed)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (!set_loses(s, m, narrowed, k->lost[i]))
			return false;
	return (!k->survived || has_place(k, k->survived) ||
		!set_loses(s, m, narrowed, k->survived)) &&
	       !loses_more(k, s, m, narrowed);
}

bool known_losses_cover(const struct known_losses *k, const struct state_set *s,
			const struct model *m, const struct narrowing *narrowed)
{
	for (size_t i = 0; i < k->list.n; i++)
		if (is_repeated(&k->list.at[i], s, m, narrowed))
			return true;
	return false;
}
