/* See races.h. A decision of a lazy run is a read of bytes that a crash could have lost, that recovery did not write, and whose possible values
 * differ: a race, between this read and the newest store to those bytes. All of one failure point are judged after its runs. */
#include "crash/races.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "crash/infer.h"
#include "crash/readers.h"
#include "crash/replaced.h"
#include "crash/semantic.h"
#include "crash/stored.h"
#include "crash/uninitialised.h"

#define RACES_MAX 4096u
#define VALUES_MAX 4u
#define TORN_RUNS 64u
#define TORN_FEW 2u

struct known_race {
	struct race race;
	struct suspect suspect;
	uint64_t seen_at; /* failure point */
	struct judgement *known; /* NULL: nothing yet; changed only in turn */
	bool is_asked_for; /* --strict: told in any case */
	bool is_refuted;  /* at the present failure point: no commit variable */
};

/* Bytes that some run of this failure point raced for. */
struct piece {
	size_t race;
	uint32_t line, at;
	uint64_t mask;
	uint32_t nvalues;
};

struct race_run {
	uint64_t outcome;
	uint64_t *left; /* what it stands for */
};

struct races {
	const struct race_options *o;
	struct judgements *judgements;
	uint32_t worker;
	VEC(struct known_race) list;
	VEC(struct race) told; /* races_list() */
	struct semantics *semantics;
	struct uninitialised *uninitialised;
	struct novelty novelty;
	uint64_t nstores; /* up to the last failure point that the walk came to */
	/* of the present failure point */
	bool is_watched; /* its first run shows what infer.h asks for */
	bool is_replaced; /* replaced.h: what could be lost is one word, which was replaced at once */
	bool is_listed;	  /* ... and who reads it is listed */
	struct infer_common common;
	VEC(struct piece) pieces;
	VEC(struct race_run) runs;
};

static void forget_runs(struct races *r)
{
	while (r->runs.n > 0)
		free(r->runs.at[--r->runs.n].left);
	r->pieces.n = 0;
	infer_common_release(&r->common);
	r->common = (struct infer_common){ .library_sites = r->o->library_sites.at, .nlibrary_sites = r->o->library_sites.n };
}

void race_release(struct race *r)
{
	vec_release(&r->stack);
	free(r->values);
	free(r->outcome);
}

struct judgement race_key(const struct race *r)
{
	/* what was uncommitted will be stale: one bug */
	enum race_kind kind = r->kind == RACE_STALE ? RACE_UNCOMMITTED : r->kind;

	return (struct judgement){ .pc = r->pc, .part = (uint32_t)r->part, .site = r->store.site, .kind = (uint32_t)kind };
}

bool race_same(const struct race *a, const struct race *b)
{
	return a->part == b->part && a->pc == b->pc && a->store.site == b->store.site && race_key(a).kind == race_key(b).kind;
}

bool race_set_reader(struct race *r, const struct race_options *o, const struct explorer *e, enum recovery_part part,
		     const struct run_decision *d)
{
	const struct runner_command *command = recovery_command(e->recovery, part);

	r->part = part;
	r->pc = reader_pc(e->runner, command, d);
	return o->is_distrusting || !reader_is_pmdk(e->runner, command, d);
}

void race_describe(struct race *r, const struct explorer *e, const struct run_decision *d, uint64_t mask, const struct verdict *v)
{
	r->stack.n = 0;
	for (uint32_t i = 0; i < d->nframes && i < RUN_STACK; i++)
		*vec_add(&r->stack) = d->stack[i];
	r->point = e->walk->point;
	r->seq = e->walk->seq;
	r->addr = e->set.lines.at[d->line].addr + d->at + (uint64_t)__builtin_ctzll(mask);
	r->len_bytes = 64 - (uint32_t)__builtin_clzll(mask) - (uint32_t)__builtin_ctzll(mask);
	free(r->outcome);
	r->outcome = verdict_text(v);
}

struct races *races_new(const struct race_options *o, struct judgements *judgements, uint32_t worker)
{
	struct races *r = xcalloc(1, sizeof *r);

	r->o = o;
	r->novelty = (struct novelty){ .ignored = o->library_sites.at, .nignored = o->library_sites.n }; /* PMDK reads these itself, and is trusted */
	r->judgements = judgements;
	r->worker = worker;
	r->semantics = semantics_new(o, judgements, worker);
	r->uninitialised = uninitialised_new(o);
	return r;
}

void races_free(struct races *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->list.n; i++)
		race_release(&r->list.at[i].race);
	vec_release(&r->list);
	vec_release(&r->told);
	forget_runs(r);
	vec_release(&r->pieces);
	vec_release(&r->runs);
	novelty_release(&r->novelty);
	semantics_free(r->semantics);
	uninitialised_free(r->uninitialised);
	free(r);
}

/* ---- one decision ---- */

struct newest {
	uint64_t addr, mask; /* what was read */
	struct crash_store store;
};

static void note_newest(const struct model_store *s, void *arg)
{
	struct newest *n = arg;

	for (uint64_t m = n->mask; m; m &= m - 1)
		if (n->addr + (uint64_t)__builtin_ctzll(m) - s->addr < s->size_bytes && s->seq >= n->store.seq)
			n->store = (struct crash_store){ s->seq, s->site ? s->site->id : 0 };
}

/* The last store to what was read, of those that are not guaranteed to be durable. */
static struct crash_store last_store(const struct explorer *e, uint64_t addr, uint64_t mask)
{
	struct newest n = { .addr = addr, .mask = mask };

	model_each(e->walk->model, addr, 64 - (uint64_t)__builtin_clzll(mask), note_newest, &n);
	return n.store;
}

/* That store was made where the program trusts its code. */
static bool is_trusted(const struct explorer *e, uint64_t addr, uint64_t mask, uint64_t seq)
{
	for (; mask; mask &= mask - 1) {
		struct shadow_byte b = shadow_byte(e->walk->shadow, addr + (uint64_t)__builtin_ctzll(mask));

		if (b.last.seq == seq)
			return b.last.is_trusted;
	}
	return false;
}

/* Its interface promises that what it stored for itself can be read, wherever the crash came. */
static bool is_librarys_own(const struct races *r, uint32_t site)
{
	return !r->o->is_distrusting && site < r->o->own_sites.n && r->o->own_sites.at[site];
}

static bool is_declared(const struct races *r, const struct plan *p, uint64_t addr, uint64_t mask, uint32_t site)
{
	if (site < r->o->commit_sites.n && r->o->commit_sites.at[site])
		return true;
	for (size_t i = 0; i < p->commits.n; i++)
		for (uint64_t m = mask; m; m &= m - 1)
			if (addr + (uint64_t)__builtin_ctzll(m) - p->commits.at[i].var < p->commits.at[i].var_bytes)
				return true;
	return false;
}

/* Bytes as a number, as a person would write it; those that were not read are left out at both ends. */
static void put_value(FILE *f, const uint8_t *content, uint64_t mask)
{
	int first = __builtin_ctzll(mask), last = 63 - __builtin_clzll(mask);

	fputs("0x", f);
	for (int i = last; i >= first; i--)
		fprintf(f, "%02x", content[i]);
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, uint64_t mask)
{
	for (; mask; mask &= mask - 1)
		if (a[__builtin_ctzll(mask)] != b[__builtin_ctzll(mask)])
			return false;
	return true;
}

/* The different values that the bytes can have, the newest first. */
static char *values_text(const struct state_set *s, const struct run_decision *d)
{
	const struct state_line *l = &s->lines.at[d->line];
	size_t len, n = 0;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		BUG("no memory stream");
	for (uint32_t c = l->ncontents; c-- > 0;) {
		const uint8_t *content = state_content(s, l, c) + d->at;
		uint32_t newer = c + 1;

		while (newer < l->ncontents && !same_bytes(content, state_content(s, l, newer) + d->at, d->mask))
			newer++;
		if (newer < l->ncontents)
			continue;
		if (n++ >= VALUES_MAX) {
			fputs(" or another", f);
			break;
		}
		if (n > 1)
			fputs(" or ", f);
		put_value(f, content, d->mask);
	}
	fclose(f);
	return text;
}

static size_t find_race(struct races *r, const struct race *key)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (race_same(&r->list.at[i].race, key))
			return i;
	return SIZE_MAX;
}

static size_t add_race(struct races *r, struct explorer *e, struct race *key, const struct run_decision *d, const struct verdict *v)
{
	struct known_race *k;

	if (r->list.n >= RACES_MAX)
		return SIZE_MAX;
	race_describe(key, e, d, d->mask, v);
	key->values = values_text(&e->set, d);
	key->state = r->is_replaced ? RACE_ATOMIC : RACE_UNKNOWN;
	k = vec_add(&r->list);
	*k = (struct known_race){ .race = *key };
	return r->list.n - 1;
}

/* A race that was seen only where nothing is wrong with it: from now on it is one of here. */
static void begin_race(const struct explorer *e, struct race *race, const struct race *key, const struct run_decision *d,
		       const struct verdict *v)
{
	race_describe(race, e, d, d->mask, v);
	free(race->values);
	race->values = values_text(&e->set, d);
	race->store = key->store;
	race->state = RACE_UNKNOWN;
	race->count = 0;
}

/* The possible contents agree on all of the word that was read, not only on a byte of it. */
static bool is_word_agreed(const struct state_set *s, const struct run_decision *d)
{
	const struct state_line *l = &s->lines.at[d->line];
	const uint8_t *newest = state_content(s, l, l->ncontents - 1);
	uint32_t from = d->at / 8 * 8;

	for (uint32_t c = 0; c + 1 < l->ncontents; c++)
		if (memcmp(state_content(s, l, c) + from, newest + from, 8) != 0)
			return false;
	return true;
}

static void add_piece(struct races *r, const struct piece *p)
{
	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *o = &r->pieces.at[i];

		if (o->race == p->race && o->line == p->line && o->at == p->at && o->mask == p->mask)
			return;
	}
	*vec_add(&r->pieces) = *p;
}

static void note_decision(struct races *r, struct explorer *e, const struct run_decision *d, enum recovery_part part,
			  const struct verdict *v)
{
	const struct state_line *l = &e->set.lines.at[d->line];
	uint64_t addr = l->addr + d->at;
	struct race key = { .kind = RACE_UNDURABLE };
	struct known_race *k;
	size_t i;

	if (d->nvalues < 2 && !(r->o->is_strict && is_word_agreed(&e->set, d)))
		return;
	if (!runner_is_judged(e->runner, d))
		return;
	key.store = last_store(e, addr, d->mask);
	if (key.store.seq == 0 || is_librarys_own(r, key.store.site) || is_trusted(e, addr, d->mask, key.store.seq) ||
	    is_declared(r, e->walk->plan, addr, d->mask, key.store.site))
		return;
	if (!race_set_reader(&key, r->o, e, part, d))
		return;
	i = find_race(r, &key);
	if (i == SIZE_MAX)
		i = add_race(r, e, &key, d, v);
	if (i == SIZE_MAX)
		return;
	k = &r->list.at[i];
	if (r->is_replaced && k->race.state != RACE_ATOMIC)
		return;
	if (!r->is_replaced && k->race.state == RACE_ATOMIC)
		begin_race(e, &k->race, &key, d, v);
	if (k->seen_at != e->walk->point) {
		k->seen_at = e->walk->point;
		k->race.count++;
		k->suspect = (struct suspect){ l->addr, d->at, d->mask, key.store.seq };
	}
	k->is_asked_for |= d->nvalues < 2;
	if (!r->is_replaced)
		add_piece(r, &(struct piece){ i, d->line, d->at, d->mask, d->nvalues });
}

static bool is_everything(const struct state_set *s, const uint64_t *set)
{
	uint64_t *all = states_all(s);
	bool is_same = memcmp(all, set, s->nwords * sizeof *all) == 0;

	free(all);
	return is_same;
}

void races_note_run(struct races *r, struct explorer *e, const uint64_t *before, const uint64_t *left, const struct verdict *v)
{
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d), i = 0;

	if (r->is_watched && r->runs.n == 0 && is_everything(&e->set, before))
		infer_note_newest(&r->common, e, &e->set, v);
	if (r->runs.n == 0)
		r->common.is_accepted = v->kind == VERDICT_OK;
	*vec_add(&r->runs) = (struct race_run){ v->outcome, states_copy(&e->set, left) };
	for (int part = 0; part < PART_N; part++)
		for (; i < n && i < v->ndecisions[part] && i < v->ndone; i++) {
			note_decision(r, e, &d[i], (enum recovery_part)part, v);
			semantics_note(r->semantics, e, left, &d[i], (enum recovery_part)part, v);
			uninitialised_note(r->uninitialised, e, &d[i], (enum recovery_part)part, v);
		}
}

/* ---- a failure point ---- */

static void watch_store(const struct model_store *s, void *arg)
{
	struct explorer *e = arg;

	for (uint32_t i = 0; i < s->size_bytes; i += 8)
		states_watch(&e->set, &e->walk->image, s->addr + i, s->size_bytes - i < 8 ? (1u << (s->size_bytes - i)) - 1 : 0xff);
}

void races_pass_point(struct races *r, const struct explorer *e)
{
	struct model_store store;

	r->is_replaced = !r->o->is_strict && replaced_alone(e->walk, r->nstores, &store);
	r->is_listed = r->is_replaced && novelty_note(&r->novelty, &store);
	r->is_watched = !r->is_replaced && novelty_step(&r->novelty, e->walk) && e->strategy->is_single;
	r->nstores = e->walk->nstores;
}

void races_begin_point(struct races *r, struct explorer *e)
{
	struct error err;

	forget_runs(r);
	e->wants_reads = !r->is_replaced || r->is_listed;
	if (r->is_watched && stored_watch(&e->set, e->walk, &err) < 0)
		r->is_watched = false; /* whoever opens the trace next tells */
	semantics_begin_point(r->semantics, e);
	uninitialised_begin_point(e);
	if (r->o->is_strict)
		model_each(e->walk->model, 0, UINT64_MAX, watch_store, e);
	states_sort(&e->set);
}

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
		if (bit_get(left + l->set, c) && !same_bytes(state_content(s, l, c) + p->at, newest, p->mask))
			return true;
	return false;
}

static bool is_settled(const struct known_race *k)
{
	return k->known->state == RACE_COMMIT || k->known->state == RACE_HARMLESS;
}

static void classify_run(const struct races *r, const struct state_set *s, const struct race_run *run, struct classes *c)
{
	bool is_newest = true, is_oldest = true, is_any = false;

	for (size_t i = 0; i < r->pieces.n; i++) {
		const struct piece *p = &r->pieces.at[i];
		const struct state_line *l = &s->lines.at[p->line];
		const uint8_t *value = state_content(s, l, states_newest_left(l, run->left)) + p->at;

		if (is_settled(&r->list.at[p->race]) || is_unread(s, p, run->left))
			continue;
		is_any = true;
		is_newest &= same_bytes(value, state_content(s, l, l->ncontents - 1) + p->at, p->mask);
		is_oldest &= same_bytes(value, state_content(s, l, 0) + p->at, p->mask);
	}
	if (is_any)
		class_add(c, is_newest ? 0 : is_oldest ? 1 : 2, run->outcome);
}

/* Data that is verified as a whole: whatever is torn is treated as if it were old. That must show: with a dump it does; else what is
 * all new must come to something else. */
static bool is_verified(const struct races *r, const struct explorer *e)
{
	struct classes c = { 0 };

	for (size_t i = 0; i < r->runs.n; i++)
		classify_run(r, &e->set, &r->runs.at[i], &c);
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
		const struct judgement key = race_key(&k->race), *known = k->known;

		if (!is_here(k, e))
			continue;
		if (!known)
			known = judgements_find(r->judgements, &key);
		if (!known || !judgement_is_final(known))
			return true;
	}
	return false;
}

/* In turn. False: there is no room for all that was seen here. */
static bool take_judgements(struct races *r, const struct explorer *e)
{
	for (size_t i = 0; i < r->list.n; i++) {
		struct known_race *k = &r->list.at[i];
		struct judgement key = race_key(&k->race);

		if (!is_here(k, e))
			continue;
		k->known = judgements_get(r->judgements, &key);
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
static enum inference found_before(const struct judgement *known)
{
	switch ((enum race_state)known->state) {
	case RACE_COMMIT: return INFER_COMMIT;
	case RACE_HARMLESS: return INFER_HARMLESS;
	case RACE_ATOMIC: return INFER_ATOMIC;
	case RACE_UNKNOWN: case RACE_CHECKSUM: case RACE_BUG: break;
	}
	return INFER_NOTHING;
}

static int infer_one(struct races *r, struct explorer *e, struct known_race *k, struct error *err)
{
	VEC(struct suspect) harmless = { 0 };
	struct judgement *known = k->known;
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
	int result = 0;

	for (size_t i = 0; i < r->list.n; i++) {
		struct known_race *k = &r->list.at[i];
		size_t at = here.n;

		k->is_refuted = false;
		if (!is_here(k, e) || judgement_is_final(k->known))
			continue;
		*vec_add(&here) = k;
		for (; at > 0 && is_before(k, here.at[at - 1]); at--)
			here.at[at] = here.at[at - 1];
		here.at[at] = k;
	}
	for (size_t i = 0; i < here.n && result == 0 && explore_may_run(e); i++) {
		here.at[i]->known->tries++;
		result = infer_one(r, e, here.at[i], err);
	}
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
static int judge_races(struct races *r, struct explorer *e, struct error *err)
{
	bool has_torn = false;

	if (r->pieces.n == 0 || !is_open(r, e) || !judgements_wait(r->judgements, r->worker, &e->counters->is_stopped))
		return 0;
	if (!take_judgements(r, e) || !is_open(r, e))
		return 0;
	if (e->strategy->is_single && count_torn(r) > TORN_FEW) {
		if (explore_again(e, TORN_RUNS, err) < 0)
			return -1;
		has_torn = true;
	}
	if (!take_judgements(r, e)) /* more was seen */
		return 0;
	if (!is_verified(r, e) && infer_all(r, e, err) < 0)
		return -1;
	if (e->strategy->is_single && !has_torn && is_wanting(r, e) && count_torn(r) > 1 && explore_again(e, TORN_RUNS, err) < 0)
		return -1;
	if (!take_judgements(r, e))
		return 0;
	settle(r, e, is_verified(r, e));
	return 0;
}

int races_end_point(struct races *r, struct explorer *e, struct error *err)
{
	return judge_races(r, e, err) < 0 ? -1 : semantics_end_point(r->semantics, e, err);
}

size_t races_list(const struct races *r, const struct race **list)
{
	struct races *writable = (struct races *)r;

	writable->told.n = 0;
	for (size_t i = 0; i < r->list.n; i++)
		*vec_add(&writable->told) = r->list.at[i].race;
	for (size_t i = 0; i < semantics_n(r->semantics); i++)
		*vec_add(&writable->told) = *semantics_at(r->semantics, i);
	for (size_t i = 0; i < uninitialised_n(r->uninitialised); i++)
		*vec_add(&writable->told) = *uninitialised_at(r->uninitialised, i);
	*list = r->told.at;
	return r->told.n;
}
