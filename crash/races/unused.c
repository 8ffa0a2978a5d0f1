/* Runs recovery with a word's old value, with its new one, and with one that is neither, and
 * compares how it ends. */
#include "crash/races/unused.h"

#include "crash/races/perturb.h"
#include "crash/races/word_states.h"

/* Hashes what a run left, without the word itself. */
static uint64_t content_beside(const struct explorer *e, const struct suspect *s)
{
	return e->recovery->dump ? 0
				 : runner_content(e->runner, s->addr + s->at,
						  64 - (uint64_t)__builtin_clzll(s->mask));
}

static bool is_suspects(const struct suspect *s, uint32_t byte)
{
	return byte >= s->at && byte - s->at < 64 && s->mask >> (byte - s->at) & 1;
}

/* Are two contents of the word's line equal in all other bytes? */
static bool is_same_beside(const struct suspect *s, const struct state_set *set,
			   const struct state_line *l, uint32_t a, uint32_t b)
{
	const uint8_t *x = state_content(set, l, a), *y = state_content(set, l, b);

	for (uint32_t i = 0; i < set->line_bytes; i++)
		if (x[i] != y[i] && !is_suspects(s, i))
			return false;
	return true;
}

#define UNIT_BYTES 8u /* bytes that one store changes at once */

/* Widens the word to the bytes beside it that change together with it: recovery may read only a
 * part of a store, such as the first letter of a text. */
static struct suspect with_neighbours(const struct suspect *s, const struct state_set *set,
				      const uint64_t *state)
{
	const struct state_line *l = states_line(set, s->addr);
	const uint32_t from = s->at & -UNIT_BYTES,
		       after = s->at + 64 - (uint32_t)__builtin_clzll(s->mask),
		       end = (after + UNIT_BYTES - 1) & -UNIT_BYTES, n = end - from;
	const struct suspect units = { s->addr, from, n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX,
				       s->seq };
	struct suspect wide = { s->addr, from, s->mask << (s->at - from), s->seq };
	const uint32_t old = l ? states_newest_left(l, state) : 0;

	if (!l || n > 64)
		return *s;
	for (uint32_t c = 0; c < l->ncontents; c++) {
		const uint8_t *x = state_content(set, l, old), *y = state_content(set, l, c);

		if (!word_is_newest(set, l, s, c) || !is_same_beside(&units, set, l, old, c))
			continue;
		for (uint32_t i = from; i < end; i++)
			if (x[i] != y[i])
				wide.mask |= (uint64_t)1 << (i - from);
		return wide;
	}
	return *s;
}

/* Changes a state in which the word is old: gives the word its newest value and leaves everything
 * else as it is. False: no crash can leave that. */
static bool renew_alone(const struct suspect *s, const struct state_set *set, uint64_t *state)
{
	const struct state_line *l = states_line(set, s->addr);
	const uint32_t old = l ? states_newest_left(l, state) : 0;

	for (uint32_t c = 0; l && c < l->ncontents; c++)
		if (word_is_newest(set, l, s, c) && is_same_beside(s, set, l, old, c)) {
			states_only(l, state, c);
			return true;
		}
	return false;
}

/* How a run ends, and what it leaves besides a word. */
struct ending {
	bool is_accepted; /* recovery succeeded, and the run counts */
	uint64_t outcome, beside;
};

static struct ending end_of(const struct explorer *e, const struct suspect *s,
			    const struct verdict *v)
{
	return (struct ending){ !v->why_unsound && v->kind == VERDICT_OK, v->outcome,
				content_beside(e, s) };
}

static bool is_same_ending(const struct ending *a, const struct ending *b)
{
	return a->is_accepted && b->is_accepted && a->outcome == b->outcome &&
	       a->beside == b->beside;
}

/* Does nobody use the word? Then recovery ends the same way with the old value, the new one, and
 * one that is neither, and leaves the same besides the word. Later stores in the word's line are
 * lost in all three runs, because they are lost whenever the word is. 1: yes; -1: error. */
static int is_unused(struct explorer *e, struct state_set *set, const struct suspect *s,
		     struct error *err)
{
	uint64_t *state = word_old_states(s, set), written;
	struct ending old, other;
	struct suspect wide;
	struct verdict v;
	bool brings_others;
	int result = -1;

	states_keep_newest(set, state);
	wide = with_neighbours(s, set, state);
	/* then their contents cannot be compared, but whether recovery stores to them can */
	brings_others = !e->recovery->dump &&
			__builtin_popcountll(wide.mask) > __builtin_popcountll(s->mask);
	if (explorer_try(e, state, &v, err) < 0)
		goto out;
	written = brings_others ? runner_changes(e->runner) : 0;
	old = end_of(e, &wide, &v);
	result = 0;
	if (!old.is_accepted)
		goto out;
	result = perturb(e, set, state, s, PERTURB_MUCH, &v, err);
	other = end_of(e, &wide, &v);
	if (result < 0)
		goto out;
	result = 0;
	if (!is_same_ending(&old, &other) || !renew_alone(&wide, set, state))
		goto out;
	result = explorer_try(e, state, &v, err);
	other = end_of(e, &wide, &v);
	if (result == 0)
		result = is_same_ending(&old, &other) &&
			 (!brings_others || runner_changes(e->runner) == written);
out:
	free(state);
	return result;
}

int unused_ask(struct explorer *e, struct state_set *set, const struct suspects *words,
	       struct error *err)
{
	int result = 1;

	for (size_t i = 0; i < words->n && result == 1; i++)
		result = is_unused(e, set, &words->at[i], err);
	return result;
}

int unused_is_switch(struct explorer *e, struct state_set *set, const struct suspect *word,
		     struct error *err)
{
	uint64_t *state = word_old_states(word, set), *newest = states_newest(set);
	struct ending old, new, other;
	struct verdict v;
	int result = -1;

	states_keep_newest(set, state);
	if (explorer_try(e, state, &v, err) < 0)
		goto out;
	old = end_of(e, word, &v);
	if (explorer_try(e, newest, &v, err) < 0)
		goto out;
	new = end_of(e, word, &v);
	if (perturb(e, set, newest, word, PERTURB_MUCH, &v, err) < 0)
		goto out;
	other = end_of(e, word, &v);
	result = old.is_accepted && new.is_accepted &&
		 (is_same_ending(&other, &old) || is_same_ending(&other, &new));
out:
	free(state);
	free(newest);
	return result;
}

/* Gives the word, in one state, a value that is neither its old nor its new one. 1: recovery ends
 * as before. 0: it does not. -1: error. -2: unknown. */
static int is_indifferent(struct explorer *e, struct state_set *set, const uint64_t *state,
			  const struct suspect *word, struct error *err)
{
	struct ending as_is, other;
	struct verdict v;

	if (explorer_try(e, state, &v, err) < 0)
		return -1;
	as_is = end_of(e, word, &v);
	if (!as_is.is_accepted)
		return -2;
	if (perturb(e, set, state, word, PERTURB_MUCH, &v, err) < 0)
		return -1;
	other = end_of(e, word, &v);
	return v.why_unsound ? -2 : is_same_ending(&as_is, &other);
}

int unused_unless_new(struct explorer *e, struct state_set *set, const struct suspect *suspect,
		      const struct suspect *word, struct error *err)
{
	uint64_t *old = word_old_states(suspect, set), *newest = states_newest(set);
	int with_old, with_new = 1;

	states_keep_newest(set, old);
	with_old = is_indifferent(e, set, old, word, err);
	if (with_old == 1)
		with_new = is_indifferent(e, set, newest, word, err);
	free(old);
	free(newest);
	return with_old == -1 || with_new == -1 ? -1 : with_old == 1 && with_new == 0;
}
