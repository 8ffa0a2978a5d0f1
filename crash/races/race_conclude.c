/* Decides after the runs of a failure point which of its races have an excuse. docs/crash.md has
 * the rules. */
#include "crash/races/races_internal.h"

#define TORN_RUNS 64u /* runs per failure point that find out how recovery treats torn data */
#define TORN_FEW 2u

static bool is_here(const struct known_race *k, const struct explorer *e)
{
	return k->seen_at == e->walk->point;
}

/* Is something that was seen here not known well enough yet? Once this is false at a failure point,
 * it stays false. */
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

/* Gets a table entry for each race seen here; to be called in turn. False: the table is full. */
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

/* Gives the excuse that the table has for a race, as an answer of infer_commit(). */
static enum inference found_before(const struct race_entry *known)
{
	switch ((enum race_state)known->state) {
	case RACE_COMMIT: return INFER_COMMIT;
	case RACE_HARMLESS: return INFER_HARMLESS;
	case RACE_ATOMIC: return INFER_ATOMIC;
	case RACE_UNKNOWN:
	case RACE_CHECKSUM:
	case RACE_BUG:
	case RACE_UNTRIED: break;
	}
	return INFER_NOTHING;
}

static int infer_one(struct races *r, struct explorer *e, struct known_race *k, struct error *err)
{
	struct suspects harmless = { 0 }, parts = { 0 };
	struct race_entry *known = k->known;
	enum inference found;

	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];
		const struct suspect word = { e->set.lines.at[p->line].addr, p->at, p->mask, 0 };

		if (r->list.at[p->race].known->state == RACE_HARMLESS)
			*vec_add(&harmless) = word;
		if (&r->list.at[p->race] == k)
			*vec_add(&parts) = word;
	}
	found = infer_commit(e, &r->common, &k->suspect, &parts, &harmless, found_before(known),
			     err);
	vec_release(&harmless);
	vec_release(&parts);
	k->is_refuted = found == INFER_REFUTED;
	known->is_doubted |= found == INFER_NOTHING;
	if ((found == INFER_REFUTED && known->state != RACE_CHECKSUM) ||
	    (found == INFER_NOTHING && known->state == RACE_ATOMIC))
		known->state = RACE_UNKNOWN;
	else if (found == INFER_COMMIT && known->state == RACE_UNKNOWN)
		known->state = RACE_COMMIT;
	else if (found == INFER_HARMLESS && known->state == RACE_UNKNOWN)
		known->state = RACE_HARMLESS;
	else if (found == INFER_ATOMIC && known->state == RACE_UNKNOWN && !known->is_doubted)
		known->state = RACE_ATOMIC;
	return found == INFER_ERROR ? -1 : 0;
}

/* Orders races: last stores first, because earlier ones may depend on the last being harmless.
 * Reads of the same store have an order that is the same for all workers. */
static bool is_before(const struct known_race *a, const struct known_race *b)
{
	if (a->suspect.seq != b->suspect.seq)
		return a->suspect.seq > b->suspect.seq;
	return a->race.part != b->race.part ? a->race.part < b->race.part : a->race.pc < b->race.pc;
}

struct asked_race {
	struct known_race *race;
	bool was_doubted; /* before this failure point */
	bool is_asked;    /* at this failure point */
};

struct asked_races {
	struct asked_race *at;
	size_t n, room;
};

/* Asks about the first n races, except those that are excused. Returns the index of the last one
 * that turned out to be harmless, plus 1; -1: error. */
static ptrdiff_t infer_each(struct races *r, struct explorer *e, const struct asked_races *here,
			    size_t n, struct error *err)
{
	struct suspects suspects = { 0 };
	ptrdiff_t last = 0;

	for (size_t i = 0; i < n; i++)
		*vec_add(&suspects) = here->at[i].race->suspect;
	for (size_t i = 0; i < n && last >= 0 && explorer_may_run(e); i++) {
		struct race_entry *known = here->at[i].race->known;
		const bool was_harmless = known->state == RACE_HARMLESS;

		if (here->at[i].is_asked && known->state != RACE_UNKNOWN)
			continue;
		if (here->at[i].is_asked)
			known->is_doubted = here->at[i].was_doubted;
		here->at[i].is_asked = true;
		infer_prepare(e, &r->common, suspects.at + i, suspects.n - i);
		if (infer_one(r, e, here->at[i].race, err) < 0)
			last = -1;
		else if (!was_harmless && known->state == RACE_HARMLESS)
			last = (ptrdiff_t)i + 1;
	}
	vec_release(&suspects);
	return last;
}

/* Asks about all races. When a race turns out to be harmless, those that were asked before it are
 * asked once more. Refuted races are decided only later, because their data may be verified as a
 * whole. */
static int infer_all(struct races *r, struct explorer *e, struct error *err)
{
	struct asked_races here = { 0 };
	ptrdiff_t last;

	for (size_t i = 0; i < r->list.n; i++) {
		struct known_race *k = &r->list.at[i];
		size_t at = here.n;

		k->is_refuted = false;
		if (!is_here(k, e) || race_entry_is_final(k->known))
			continue;
		vec_add(&here);
		for (; at > 0 && is_before(k, here.at[at - 1].race); at--)
			here.at[at] = here.at[at - 1];
		here.at[at] = (struct asked_race){ .race = k, .was_doubted = k->known->is_doubted };
	}
	last = infer_each(r, e, &here, here.n, err);
	for (size_t i = 0; i < here.n; i++)
		here.at[i].race->known->tries += here.at[i].is_asked;
	if (last > 1)
		last = infer_each(r, e, &here, (size_t)last - 1, err);
	vec_release(&here);
	return last < 0 ? -1 : 0;
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

/* Counts the pieces that a crash can tear apart. A single piece that is only old or new cannot be
 * torn. */
static size_t count_torn(const struct races *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];
		size_t k = 0;

		while (k < i && (r->pieces.at[k].line != p->line || r->pieces.at[k].at != p->at))
			k++;
		if (k == i && !race_is_settled(&r->list.at[p->race]))
			n += p->nvalues > 2 ? 2 : 1;
	}
	return n;
}

/* Does something that was seen here have no excuse yet? */
static bool is_wanting(const struct races *r, const struct explorer *e)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (is_here(&r->list.at[i], e) && r->list.at[i].known->state == RACE_UNKNOWN)
			return true;
	return false;
}

/* Lists, for each race that was seen here, what was known before and what is known now. */
static void note_turn(struct races *r, const struct explorer *e, const race_entries *before)
{
	struct race_turn *t = race_turns_add(&r->turns, e->round, e->walk->point, false);

	for (size_t i = 0; i < r->list.n; i++) {
		const struct known_race *k = &r->list.at[i];
		struct race_change c;
		size_t at = 0;

		if (!is_here(k, e) || !k->known)
			continue;
		c.after = *k->known;
		c.before = (struct race_entry){ .pc = c.after.pc,
						.part = c.after.part,
						.site = c.after.site,
						.kind = c.after.kind };
		while (at < before->n && !race_entry_is_same(&before->at[at], &c.after))
			at++;
		if (at < before->n)
			c.before = before->at[at];
		*vec_add(&t->changes) = c;
	}
}

/* Judges all races. Whether data is verified as a whole is asked first if it has many words,
 * because that takes fewer runs than asking about each; otherwise last. */
static int judge_all(struct races *r, struct explorer *e, struct error *err)
{
	bool has_torn = false;
	int is_verified;

	if (!take_entries(r, e) || !is_open(r, e))
		return 0;
	if (e->strategy->is_single && count_torn(r) > TORN_FEW) {
		if (explorer_again(e, TORN_RUNS, err) < 0)
			return -1;
		has_torn = true;
	}
	if (!take_entries(r, e)) /* more races than the table has room for */
		return 0;
	is_verified = race_is_verified(r, e, err);
	if (is_verified < 0)
		return -1;
	if (!is_verified) {
		if (infer_all(r, e, err) < 0)
			return -1;
		if (e->strategy->is_single && !has_torn && is_wanting(r, e) && count_torn(r) > 1 &&
		    explorer_again(e, TORN_RUNS, err) < 0)
			return -1;
		if (!take_entries(r, e))
			return 0;
		is_verified = race_is_verified(r, e, err);
	}
	if (is_verified >= 0)
		settle(r, e, is_verified);
	return is_verified < 0 ? -1 : 0;
}

int race_conclude(struct races *r, struct explorer *e, struct error *err)
{
	race_entries before = { 0 };
	int result;

	if (r->pieces.n == 0 || !is_open(r, e) ||
	    !race_table_wait(r->table, r->worker, &e->counters->is_stopped))
		return 0;
	if (r->o->has_turns)
		race_table_list(r->table, &before);
	result = judge_all(r, e, err);
	if (r->o->has_turns)
		note_turn(r, e, &before);
	vec_release(&before);
	return result;
}
