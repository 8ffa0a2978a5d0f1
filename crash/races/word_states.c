/* Finds the states of a failure point in which one word is old, or new. */
#include "crash/races/word_states.h"

bool word_is_newest(const struct state_set *s, const struct state_line *l, const struct suspect *w,
		    uint32_t c)
{
	const uint8_t *a = state_content(s, l, c) + w->at,
		      *b = state_content(s, l, l->ncontents - 1) + w->at;

	for (uint64_t m = w->mask; m; m &= m - 1)
		if (a[__builtin_ctzll(m)] != b[__builtin_ctzll(m)])
			return false;
	return true;
}

/* Keeps the states in which the word has an older value than the newest; all states if there are
 * none. */
void word_make_old(const struct suspect *s, const struct state_set *set, uint64_t *left)
{
	const struct state_line *l = states_line(set, s->addr);
	bool is_any = false;

	for (uint32_t c = 0; l && c < l->ncontents; c++)
		is_any |= bit_get(left + l->set, c) && !word_is_newest(set, l, s, c);
	for (uint32_t c = 0; is_any && c < l->ncontents; c++)
		if (word_is_newest(set, l, s, c))
			bit_put(left + l->set, c, false);
}

uint64_t *word_old_states(const struct suspect *s, const struct state_set *set)
{
	uint64_t *left = states_all(set);

	word_make_old(s, set, left);
	return left;
}

void states_keep_newest(const struct state_set *set, uint64_t *left)
{
	for (size_t i = 0; i < set->lines.n; i++)
		states_only(&set->lines.at[i], left, states_newest_left(&set->lines.at[i], left));
}
