/* Recognises data that is verified as a whole, for example by a checksum: recovery treats torn data
 * like old data, and accepts no value that is neither old nor new. */
#include "crash/races/perturb.h"
#include "crash/races/races_internal.h"

#define PERTURBED_MAX 16u /* runs */

/* The runs of a failure point in three classes. Of the races that are no commit variables, all
 * values read were new, all were old, or some of each (torn). */
struct classes {
	uint64_t outcome[3]; /* newest, oldest, torn */
	size_t nruns[3];
	bool differ[3]; /* not all runs of this class end alike */
};

static void class_add(struct classes *c, int which, uint64_t outcome)
{
	if (c->nruns[which]++ > 0 && c->outcome[which] != outcome)
		c->differ[which] = true;
	c->outcome[which] = outcome;
}

/* Can the piece still have several values, so that the run did not look at it? */
static bool is_unread(const struct state_set *s, const struct piece *p, const uint64_t *left)
{
	const struct state_line *l = &s->lines.at[p->line];
	const uint8_t *newest = state_content(s, l, states_newest_left(l, left)) + p->at;

	for (uint32_t c = 0; c < l->ncontents; c++)
		if (bit_get(left + l->set, c) &&
		    !race_same_bytes(state_content(s, l, c) + p->at, newest, p->mask))
			return true;
	return false;
}

bool race_is_settled(const struct known_race *k)
{
	return k->known->state == RACE_COMMIT || k->known->state == RACE_HARMLESS;
}

/* Is the race left out? Harmless words are, and with `is_without_commits` also commit variables. */
static bool is_aside(const struct known_race *k, bool is_without_commits)
{
	return is_without_commits ? race_is_settled(k) : k->known->state == RACE_HARMLESS;
}

/* Adds a run to its class. left: memory for a bit set of all lines. */
static void classify_run(const struct races *r, const struct state_set *s,
			 const struct race_run *run, bool is_without_commits, uint64_t *left,
			 struct classes *c)
{
	bool is_newest = true, is_oldest = true, is_any = false;

	sparse_expand(&run->left, s, left);
	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];
		const struct state_line *l = &s->lines.at[p->line];
		const uint8_t *value = state_content(s, l, states_newest_left(l, left)) + p->at;

		if (is_aside(&r->list.at[p->race], is_without_commits) || is_unread(s, p, left))
			continue;
		is_any = true;
		is_newest &= race_same_bytes(value, state_content(s, l, l->ncontents - 1) + p->at,
					     p->mask);
		is_oldest &= race_same_bytes(value, state_content(s, l, 0) + p->at, p->mask);
	}
	if (is_any)
		class_add(c, is_newest ? 0 : is_oldest ? 1 : 2, run->outcome);
}

/* Is all torn data treated like old data? That must be visible: a dump shows it; without one, the
 * runs with all new values must end differently. */
static bool seems_verified(const struct races *r, const struct explorer *e, bool is_without_commits,
			   uint64_t *outcome)
{
	uint64_t *left = states_all(&e->set);
	struct classes c = { 0 };

	for (size_t i = 0; i < r->runs.n; i++)
		classify_run(r, &e->set, &r->runs.at[i], is_without_commits, left, &c);
	free(left);
	*outcome = c.outcome[1];
	return c.nruns[0] && c.nruns[1] && c.nruns[2] && !c.differ[0] && !c.differ[1] &&
	       !c.differ[2] && c.outcome[2] == c.outcome[1] &&
	       (e->recovery->dump || c.outcome[0] != c.outcome[1]);
}

/* Does recovery accept a wrong value as a right one? 1: yes. outcome: how recovery ends with
 * everything old. */
static int takes_wrong_value(const struct races *r, struct explorer *e, bool is_without_commits,
			     uint64_t outcome, struct error *err)
{
	uint64_t *newest = states_newest(&e->set);
	int result = 0;
	size_t n = 0;

	runner_load(e->runner, &e->walk->image, &e->set);
	for (size_t i = 0; i < r->list.n && n < PERTURBED_MAX && result == 0; i++) {
		const struct known_race *k = &r->list.at[i];
		struct verdict v;

		if (k->seen_at != e->walk->point || is_aside(k, is_without_commits) ||
		    !explorer_may_run(e))
			continue;
		n++;
		if (perturb(e, &e->set, newest, &k->suspect, PERTURB_A_LITTLE, &v, err) < 0)
			result = -1;
		else
			result = !v.why_unsound &&
				 (v.kind == VERDICT_OK || v.kind == VERDICT_DUMP) &&
				 v.outcome != outcome;
	}
	free(newest);
	return result;
}

int race_is_verified(const struct races *r, struct explorer *e, struct error *err)
{
	uint64_t outcome;

	for (int is_without_commits = 0; is_without_commits < 2; is_without_commits++) {
		if (seems_verified(r, e, is_without_commits, &outcome)) {
			int is_wrong = takes_wrong_value(r, e, is_without_commits, outcome, err);

			if (is_wrong <= 0)
				return is_wrong < 0 ? -1 : 1;
		}
	}
	return 0;
}
