/* Stores a set of states as the lines in which it differs from the set of all states, or from the
 * state in which nothing is lost. */
#include "crash/states/sparse.h"

#include <string.h>

static uint64_t base_word(const struct state_line *l, enum sparse_base base, uint32_t word)
{
	return base == SPARSE_ALL                ? states_word(l, word)
	       : word == (l->ncontents - 1) / 64 ? (uint64_t)1 << (l->ncontents - 1) % 64
						 : 0;
}

static bool is_base(const struct state_line *l, enum sparse_base base, const uint64_t *left)
{
	for (uint32_t w = 0; w < l->words; w++)
		if (left[w] != base_word(l, base, w))
			return false;
	return true;
}

void sparse_take(struct sparse_set *p, const struct state_set *s, const uint64_t *set,
		 enum sparse_base base)
{
	p->base = base;
	p->parts.n = p->words.n = 0;
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct state_line *l = &s->lines.at[i];

		if (is_base(l, base, set + l->set))
			continue;
		*vec_add(&p->parts) = (struct sparse_part){ i, p->words.n };
		for (uint32_t w = 0; w < l->words; w++)
			*vec_add(&p->words) = set[l->set + w];
	}
}

void sparse_take_shorter(struct sparse_set *p, const struct state_set *s, const uint64_t *set)
{
	size_t n[2] = { 0 };

	for (size_t i = 0; i < s->lines.n; i++)
		for (int base = 0; base < 2; base++)
			n[base] += !is_base(&s->lines.at[i], (enum sparse_base)base,
					    set + s->lines.at[i].set);
	sparse_take(p, s, set, n[SPARSE_ALL] <= n[SPARSE_NEWEST] ? SPARSE_ALL : SPARSE_NEWEST);
}

void sparse_release(struct sparse_set *p)
{
	vec_release(&p->parts);
	vec_release(&p->words);
}

void sparse_expand(const struct sparse_set *p, const struct state_set *s, uint64_t *set)
{
	for (size_t i = 0; i < s->lines.n; i++)
		for (uint32_t w = 0; w < s->lines.at[i].words; w++)
			set[s->lines.at[i].set + w] = base_word(&s->lines.at[i], p->base, w);
	for (size_t i = 0; i < p->parts.n; i++) {
		const struct state_line *l = &s->lines.at[p->parts.at[i].line];

		memcpy(set + l->set, p->words.at + p->parts.at[i].at, l->words * sizeof *set);
	}
}

bool sparse_include(const struct sparse_set *p, const struct state_set *s,
		    const struct sparse_set *other)
{
	size_t k = 0;

	for (size_t i = 0; i < other->parts.n; i++) {
		const size_t line = other->parts.at[i].line;

		while (k < p->parts.n && p->parts.at[k].line < line)
			k++;
		/* in this set, only the line's newest content is left; the other set has more */
		if (k == p->parts.n || p->parts.at[k].line != line)
			return false;
		for (uint32_t w = 0; w < s->lines.at[line].words; w++)
			if (other->words.at[other->parts.at[i].at + w] &
			    ~p->words.at[p->parts.at[k].at + w])
				return false;
	}
	return true;
}
