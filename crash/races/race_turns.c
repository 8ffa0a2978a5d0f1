/* Goes over the turns of all shards in order, and checks for each whether it supposed the right
 * thing. */
#include "crash/races/race_turns.h"

#include <stdlib.h>

void race_turns_release(race_turns *t)
{
	for (size_t i = 0; i < t->n; i++)
		vec_release(&t->at[i].changes);
	vec_release(t);
}

struct race_turn *race_turns_add(race_turns *t, uint64_t round, uint64_t point, bool is_question)
{
	struct race_turn *turn = vec_add(t);

	*turn = (struct race_turn){ .round = round, .point = point, .is_question = is_question };
	return turn;
}

static int compare(const void *a, const void *b)
{
	const struct race_turn *x = a, *y = b;

	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return x->is_question - y->is_question;
}

static void sort(race_turns *t)
{
	if (t->n > 0)
		qsort(t->at, t->n, sizeof *t->at, compare);
}

/* Gives the table's entry; if there is none yet, an entry about which nothing is known. */
static struct race_entry now(const struct race_table *table, const struct race_entry *key)
{
	const struct race_entry *known = race_table_find(table, key);

	return known ? *known
		     : (struct race_entry){ .pc = key->pc,
					    .part = key->part,
					    .site = key->site,
					    .kind = key->kind };
}

static bool is_open(const struct race_table *table, const struct race_turn *t)
{
	for (size_t i = 0; i < t->changes.n; i++) {
		const struct race_entry e = now(table, &t->changes.at[i].before);

		if (!race_entry_is_final(&e))
			return true;
	}
	return false;
}

static bool is_right(const struct race_table *table, const struct race_turn *t)
{
	for (size_t i = 0; i < t->changes.n; i++) {
		const struct race_entry *before = &t->changes.at[i].before, e = now(table, before);

		if (e.state != before->state || e.tries != before->tries ||
		    e.is_closed != before->is_closed || e.is_doubted != before->is_doubted ||
		    e.nselected != before->nselected || e.nrefuted != before->nrefuted)
			return false;
	}
	return true;
}

/* Adds one more try, with its answer, to each entry. */
static void answer(struct race_table *table, const struct race_turn *t)
{
	for (size_t i = 0; i < t->changes.n; i++) {
		const struct race_change *c = &t->changes.at[i];
		struct race_entry e = now(table, &c->before);

		e.tries += c->after.tries - c->before.tries;
		e.nselected += c->after.nselected - c->before.nselected;
		e.nrefuted += c->after.nrefuted - c->before.nrefuted;
		e.is_closed = e.nrefuted > 0;
		race_table_put(table, &e);
	}
}

/* Puts the conclusions of the turn into the table. */
static void take(struct race_table *table, const struct race_turn *t)
{
	for (size_t i = 0; i < t->changes.n; i++)
		race_table_put(table, &t->changes.at[i].after);
}

int race_turns_replay(race_turns *t, struct race_table *table,
		      int (*again)(uint64_t point, void *arg, struct error *err), void *arg,
		      struct error *err)
{
	int result = 0;

	sort(t);
	for (size_t i = 0; i < t->n && result == 0; i++) {
		const struct race_turn *turn = &t->at[i];

		if (!is_open(table, turn))
			continue;
		if (turn->is_question)
			answer(table, turn);
		else if (!is_right(table, turn))
			result = again(turn->point, arg, err);
		else
			take(table, turn);
	}
	return result;
}

void race_turns_suppose(race_turns *t, uint64_t round, struct race_table *table)
{
	race_table_clear(table);
	sort(t);
	for (size_t i = 0; i < t->n && t->at[i].round < round; i++)
		if (is_open(table, &t->at[i]))
			(t->at[i].is_question ? answer : take)(table, &t->at[i]);
}
