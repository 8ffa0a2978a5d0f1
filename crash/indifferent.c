/* Runs recovery on pairs of states: with nothing lost, and with one word old. Threads leave many
 * words at many failure points; so behind PAIRS_MAX pairs, all words of a failure point are old
 * together. With too many pairs even so, the answer is "unknown": a sample would prove nothing. */
#include "crash/indifferent.h"

#include <stdlib.h>

#include "crash/races/word_states.h"

#define PAIRS_MAX 200u
#define TOGETHER_MAX 2000u /* further pairs, one per failure point */

struct pairs {
	struct walk walk;
	struct runner *runner;
	const struct crash_options *o;
	const uint32_t *sites;
	size_t nsites;
	struct suspects here; /* words that may be lost at this failure point */
	uint64_t n;
	enum indifference answer;
};

static void note_word(const struct model_store *s, void *arg)
{
	struct pairs *p = arg;
	const uint64_t line_bytes = p->walk.plan->platform->line_bytes,
		       line = s->addr / line_bytes * line_bytes;

	for (size_t i = 0; i < p->nsites; i++)
		if (!s->is_overwritten && site_id(s->site) == p->sites[i] && s->size_bytes <= 8)
			*vec_add(&p->here) =
				(struct suspect){ line, (uint32_t)(s->addr - line),
						  ((uint64_t)1 << s->size_bytes) - 1, s->seq };
}

/* Runs recovery on one state. *outcome identifies the exit status and the output; 0 if the run does
 * not count. */
static int end_of(struct pairs *p, const uint64_t *state, uint64_t *outcome, struct error *err)
{
	struct verdict v;

	runner_begin(p->runner, state, false);
	if (verdict_run(&v, p->runner, p->o->recovery, NULL, err) < 0)
		return -1;
	*outcome = v.why_unsound || verdict_is_slow(&v) ? 0 : v.outcome | 1;
	return 0;
}

/* Runs recovery on the state in which n words from here.at[first] on are old. */
static int try_words(struct pairs *p, const struct state_set *set, size_t first, size_t n,
		     uint64_t with, struct error *err)
{
	uint64_t *old = states_all(set), without = 0;
	int result;

	for (size_t i = first; i < first + n; i++)
		word_make_old(&p->here.at[i], set, old);
	states_keep_newest(set, old);
	result = end_of(p, old, &without, err);
	if (!with || !without || ++p->n > PAIRS_MAX + TOGETHER_MAX)
		p->answer = INDIFFERENT_UNKNOWN;
	else if (with != without)
		p->answer = INDIFFERENT_NO;
	free(old);
	return result;
}

static int try_here(struct pairs *p, struct error *err)
{
	/* words that are old together; losses that cancel each other out would be missed */
	const size_t step = p->n + p->here.n > PAIRS_MAX ? p->here.n : 1;
	struct state_set set = { 0 };
	uint64_t *newest, with = 0;
	int result = 0;

	states_collect(&set, p->walk.model, NULL);
	runner_load(p->runner, &p->walk.image, &set);
	recovery_set_moment(p->o->recovery, p->runner, p->walk.plan,
			    p->walk.is_over ? UINT64_MAX : p->walk.seq);
	newest = states_newest(&set);
	result = end_of(p, newest, &with, err);
	for (size_t i = 0; i < p->here.n && result == 0 && p->answer == INDIFFERENT_YES; i += step)
		result = try_words(p, &set, i, step, with, err);
	free(newest);
	states_release(&set);
	return result;
}

int indifferent_ask(const struct plan *plan, const struct crash_options *o, const uint32_t *sites,
		    size_t nsites, enum indifference *answer, struct error *err)
{
	struct pairs p = { .o = o, .sites = sites, .nsites = nsites, .answer = INDIFFERENT_YES };
	int result = 0;

	*answer = INDIFFERENT_UNKNOWN;
	if (o->recovery->ready)
		return 0;
	p.runner = runner_new(&o->runner, plan->mappings.at, plan->mappings.n, err);
	if (!p.runner)
		return -1;
	runner_set_deadline(p.runner, o->limits.deadline_ns);
	walk_init(&p.walk, plan, o->stops);
	while (result == 0 && p.answer == INDIFFERENT_YES && walk_next(&p.walk)) {
		p.here.n = 0;
		model_each(p.walk.model, 0, UINT64_MAX, note_word, &p);
		if (p.here.n > 0)
			result = try_here(&p, err);
	}
	*answer = result == 0 && p.n > 0 ? p.answer : INDIFFERENT_UNKNOWN;
	walk_release(&p.walk);
	runner_free(p.runner);
	vec_release(&p.here);
	return result;
}
