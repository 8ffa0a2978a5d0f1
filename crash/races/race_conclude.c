/* Decides, after the runs of a failure point, which of the races that they showed have an excuse. docs/crash.md has the rules. */
#include "crash/races/races_internal.h"

#define TORN_RUNS 64u /* of one failure point, to see what torn data comes to */
#define TORN_FEW 2u

/* What the runs of a failure point show of the races that are no commit variables: all of what was read is new, or all is old, or it is torn. */
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

/* The piece can still have several values: the run did not look at it. */
static bool is_unread(const struct state_set *s, const struct piece *p, const uint64_t *left)
{
	const struct state_line *l = &s->lines.at[p->line];
	const uint8_t *newest = state_content(s, l, states_newest_left(l, left)) + p->at;

	for (uint32_t c = 0; c < l->ncontents; c++)
		if (bit_get(left + l->set, c) && !race_same_bytes(state_content(s, l, c) + p->at, newest, p->mask))
			return true;
	return false;
}

static bool is_settled(const struct known_race *k)
{
	return k->known->state == RACE_COMMIT || k->known->state == RACE_HARMLESS;
}

/* left: room for a bit set of all lines. */
static void classify_run(const struct races *r, const struct state_set *s, const struct race_run *run, uint64_t *left, struct classes *c)
{
	bool is_newest = true, is_oldest = true, is_any = false;

	sparse_expand(&run->left, s, left);
	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];
		const struct state_line *l = &s->lines.at[p->line];
		const uint8_t *value = state_content(s, l, states_newest_left(l, left)) + p->at;

		if (is_settled(&r->list.at[p->race]) || is_unread(s, p, left))
			continue;
		is_any = true;
		is_newest &= race_same_bytes(value, state_content(s, l, l->ncontents - 1) + p->at, p->mask);
		is_oldest &= race_same_bytes(value, state_content(s, l, 0) + p->at, p->mask);
	}
	if (is_any)
		class_add(c, is_newest ? 0 : is_oldest ? 1 : 2, run->outcome);
}

/* Data that is verified as a whole: whatever is torn is treated as if it were old. That must show: with a dump it does; else what is
 * all new must come to something else. */
static bool is_verified(const struct races *r, const struct explorer *e)
{
	uint64_t *left = states_all(&e->set);
	struct classes c = { 0 };

	for (size_t i = 0; i < r->runs.n; i++)
		classify_run(r, &e->set, &r->runs.at[i], left, &c);
	free(left);
	return c.nruns[0] && c.nruns[1] && c.nruns[2] && !c.differ[0] && !c.differ[1] && !c.differ[2] && c.outcome[2] == c.outcome[1] &&
	       (e->recovery->dump || c.outcome[0] != c.outcome[1]);
}

static bool is_here(const struct known_race *k, const struct explorer *e)
{
	return k->seen_at == e->walk->point;
}

/* Something that was seen here is not known well enough yet. Once it is false at a failure point, it stays so. */
static bool is_open(const struct races *r, const struct explorer *e)
{
	for (size_t i = 0; i < r->list.n; i++) {
		const struct known_race *k = &r->list.at[i];
		const struct race_entry key = race_key(&k->race), *known = k->known;

		if (!is_here(k, e))
			continue;
		if (!known)
			known = race_table_find(r->table, &key);
		if (!known || !race_entry_is_final(known))
			return true;
	}
	return false;
}

/* In turn. False: there is no room for all that was seen here. */
static bool take_entries(struct races *r, const struct explorer *e)
{
	for (size_t i = 0; i < r->list.n; i++) {
		struct known_race *k = &r->list.at[i];
		struct race_entry key = race_key(&k->race);

		if (!is_here(k, e))
			continue;
		k->known = race_table_get(r->table, &key);
		if (!k->known)
			return false;
		if (k->is_asked_for) {
			k->known->state = RACE_BUG;
			k->known->is_closed = true;
		}
	}
	return true;
}

/* What is known, as far as it excuses. */
static enum inference found_before(const struct race_entry *known)
{
	switch ((enum race_state)known->state) {
	case RACE_COMMIT: return INFER_COMMIT;
	case RACE_HARMLESS: return INFER_HARMLESS;
	case RACE_ATOMIC: return INFER_ATOMIC;
	case RACE_UNKNOWN: case RACE_CHECKSUM: case RACE_BUG: case RACE_UNTRIED: break;
	}
	return INFER_NOTHING;
}

static int infer_one(struct races *r, struct explorer *e, struct known_race *k, struct error *err)
{
	VEC(struct suspect) harmless = { 0 };
	struct race_entry *known = k->known;
	enum inference found;

	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];

		if (r->list.at[p->race].known->state == RACE_HARMLESS)
			*vec_add(&harmless) = (struct suspect){ e->set.lines.at[p->line].addr, p->at, p->mask, 0 };
	}
	found = infer_commit(e, &r->common, &k->suspect, harmless.at, harmless.n, found_before(known), err);
	vec_release(&harmless);
	k->is_refuted = found == INFER_REFUTED;
	known->is_doubted |= found == INFER_NOTHING;
	if ((found == INFER_REFUTED && known->state != RACE_CHECKSUM) || (found == INFER_NOTHING && known->state == RACE_ATOMIC))
		known->state = RACE_UNKNOWN;
	else if (found == INFER_COMMIT && known->state == RACE_UNKNOWN)
		known->state = RACE_COMMIT;
	else if (found == INFER_HARMLESS && known->state == RACE_UNKNOWN)
		known->state = RACE_HARMLESS;
	else if (found == INFER_ATOMIC && known->state == RACE_UNKNOWN && !known->is_doubted)
		known->state = RACE_ATOMIC;
	return found == INFER_ERROR ? -1 : 0;
}

/* The last stores first: earlier ones may depend on their being harmless. What is read of one store has an order that all workers share. */
static bool is_before(const struct known_race *a, const struct known_race *b)
{
	if (a->suspect.seq != b->suspect.seq)
		return a->suspect.seq > b->suspect.seq;
	return a->race.part != b->race.part ? a->race.part < b->race.part : a->race.pc < b->race.pc;
}

/* Refuted ones are not condemned before it is known that they are not verified as a whole. */
static int infer_all(struct races *r, struct explorer *e, struct error *err)
{
	VEC(struct known_race *) here = { 0 };
	VEC(struct suspect) suspects = { 0 };
	int result = 0;

	for (size_t i = 0; i < r->list.n; i++) {
		struct known_race *k = &r->list.at[i];
		size_t at = here.n;

		k->is_refuted = false;
		if (!is_here(k, e) || race_entry_is_final(k->known))
			continue;
		*vec_add(&here) = k;
		for (; at > 0 && is_before(k, here.at[at - 1]); at--)
			here.at[at] = here.at[at - 1];
		here.at[at] = k;
	}
	for (size_t i = 0; i < here.n; i++)
		*vec_add(&suspects) = here.at[i]->suspect;
	for (size_t i = 0; i < here.n && result == 0 && explorer_may_run(e); i++) {
		infer_prepare(e, &r->common, suspects.at + i, suspects.n - i);
		here.at[i]->known->tries++;
		result = infer_one(r, e, here.at[i], err);
	}
	vec_release(&suspects);
	vec_release(&here);
	return result;
}

static void settle(struct races *r, struct explorer *e, bool is_verified_here)
{
	for (size_t i = 0; i < r->list.n; i++) {
		struct known_race *k = &r->list.at[i];

		if (!is_here(k, e) || k->known->state == RACE_BUG)
			continue;
		if (is_verified_here && k->known->state == RACE_UNKNOWN)
			k->known->state = RACE_CHECKSUM;
		else if (!is_verified_here && k->is_refuted)
			k->known->state = RACE_BUG;
		k->known->is_closed = k->known->state == RACE_BUG;
	}
}

/* How many pieces a crash can tear apart: one alone that has an old and a new value only cannot be. */
static size_t count_torn(const struct races *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];
		size_t k = 0;

		while (k < i && (r->pieces.at[k].line != p->line || r->pieces.at[k].at != p->at))
			k++;
		if (k == i && !is_settled(&r->list.at[p->race]))
			n += p->nvalues > 2 ? 2 : 1;
	}
	return n;
}

/* Something seen here has no excuse yet. */
static bool is_wanting(const struct races *r, const struct explorer *e)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (is_here(&r->list.at[i], e) && r->list.at[i].known->state == RACE_UNKNOWN)
			return true;
	return false;
}

/* Whether data is verified as a whole is asked first where it is of many words, which takes fewer runs than to ask for each; else last. */
int race_conclude(struct races *r, struct explorer *e, struct error *err)
{
	bool has_torn = false;

	if (r->pieces.n == 0 || !is_open(r, e) || !race_table_wait(r->table, r->worker, &e->counters->is_stopped))
		return 0;
	if (!take_entries(r, e) || !is_open(r, e))
		return 0;
	if (e->strategy->is_single && count_torn(r) > TORN_FEW) {
		if (explorer_again(e, TORN_RUNS, err) < 0)
			return -1;
		has_torn = true;
	}
	if (!take_entries(r, e)) /* more was seen */
		return 0;
	if (!is_verified(r, e) && infer_all(r, e, err) < 0)
		return -1;
	if (e->strategy->is_single && !has_torn && is_wanting(r, e) && count_torn(r) > 1 && explorer_again(e, TORN_RUNS, err) < 0)
		return -1;
	if (!take_entries(r, e))
		return 0;
	settle(r, e, is_verified(r, e));
	return 0;
}
