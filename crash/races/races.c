/* Collects the races that lazy runs show. A decision of such a run is a read of bytes that a crash
 * could have lost, that recovery had not written, and whose possible values differ. This read races
 * with the newest store to these bytes. race_conclude.c decides which races are reported. */
#include <stdio.h>
#include <string.h>

#include "crash/races/races_internal.h"
#include "crash/races/lone_store.h"
#include "crash/races/ported.h"
#include "crash/races/semantic.h"
#include "crash/races/uninitialised.h"

#define RACES_MAX 4096u
#define VALUES_MAX 4u

static void forget_runs(struct races *r)
{
	while (r->runs.n > 0)
		sparse_release(&r->runs.at[--r->runs.n].left);
	r->pieces.n = 0;
	infer_common_release(&r->common);
	r->common = (struct infer_common){ .library_sites = r->o->library_sites.at,
					   .nlibrary_sites = r->o->library_sites.n,
					   .unlogged = r->o->unlogged.at,
					   .nunlogged = r->o->unlogged.n };
}

struct races *races_new(const struct race_options *o, struct race_table *table, uint32_t worker)
{
	struct races *r = xcalloc(1, sizeof *r);

	r->o = o;
	/* PMDK reads these stores itself, and is trusted */
	r->novelty =
		(struct novelty){ .ignored = o->library_sites.at, .nignored = o->library_sites.n };
	r->table = table;
	r->worker = worker;
	r->semantics = semantics_new(o, table, worker, o->has_turns ? &r->turns : NULL);
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
	race_turns_release(&r->turns);
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
	const struct plan *plan;
	uint64_t addr, mask; /* the bytes that were read */
	struct crash_store store;
};

static void note_newest(const struct model_store *s, void *arg)
{
	struct newest *n = arg;

	for (uint64_t m = n->mask; m; m &= m - 1) {
		const uint64_t byte = n->addr + (uint64_t)__builtin_ctzll(m);

		if (byte - s->addr < s->size_bytes && s->seq >= n->store.seq &&
		    !plan_is_byte_declared(n->plan, s->seq, byte))
			n->store = (struct crash_store){ s->seq, s->site ? s->site->id : 0 };
	}
}

/* Finds the last store to the bytes among those that are not guaranteed to be durable and are not
 * excused. */
static struct crash_store last_store(const struct explorer *e, uint64_t addr, uint64_t mask)
{
	struct newest n = { .plan = e->walk->plan, .addr = addr, .mask = mask };

	model_each(e->walk->model, addr, 64 - (uint64_t)__builtin_clzll(mask), note_newest, &n);
	return n.store;
}

/* Was the store of event seq made where the program says that it trusts its code? */
static bool is_trusted(const struct explorer *e, uint64_t addr, uint64_t mask, uint64_t seq)
{
	for (; mask; mask &= mask - 1) {
		struct shadow_byte b =
			shadow_byte(e->walk->shadow, addr + (uint64_t)__builtin_ctzll(mask));

		if (b.last.seq == seq)
			return b.last.is_trusted;
	}
	return false;
}

/* Does the library promise that its own stores can be read after any crash? */
static bool is_librarys_own(const struct races *r, uint32_t site)
{
	return !r->o->is_distrusting && site < r->o->own_sites.n && r->o->own_sites.at[site];
}

static bool is_declared(const struct races *r, const struct plan *p, uint64_t addr, uint64_t mask,
			uint32_t site)
{
	if (site < r->o->commit_sites.n && r->o->commit_sites.at[site])
		return true;
	for (size_t i = 0; i < p->commits.n; i++)
		for (uint64_t m = mask; m; m &= m - 1)
			if (addr + (uint64_t)__builtin_ctzll(m) - p->commits.at[i].var <
			    p->commits.at[i].var_bytes)
				return true;
	return false;
}

/* Prints bytes as a number, as a person would write it. Bytes that were not read are left out at
 * both ends. */
static void put_value(FILE *f, const uint8_t *content, uint64_t mask)
{
	int first = __builtin_ctzll(mask), last = 63 - __builtin_clzll(mask);

	fputs("0x", f);
	for (int i = last; i >= first; i--)
		fprintf(f, "%02x", content[i]);
}

/* Lists the different values that the bytes can have, the newest first. */
static char *values_text(const struct state_set *s, const struct run_decision *d)
{
	const struct state_line *l = &s->lines.at[d->line];
	size_t len, n = 0;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		alloc_die();
	for (uint32_t c = l->ncontents; c-- > 0;) {
		const uint8_t *content = state_content(s, l, c) + d->at;
		uint32_t newer = c + 1;

		while (newer < l->ncontents &&
		       !race_same_bytes(content, state_content(s, l, newer) + d->at, d->mask))
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

static size_t add_race(struct races *r, struct explorer *e, struct race *key,
		       const struct run_decision *d, const struct verdict *v)
{
	struct known_race *k;

	if (r->list.n >= RACES_MAX)
		return SIZE_MAX;
	race_describe(key, e, d, d->mask, v);
	key->values = values_text(&e->set, d);
	key->state = r->is_lone ? RACE_ATOMIC : RACE_UNKNOWN;
	k = vec_add(&r->list);
	*k = (struct known_race){ .race = *key };
	return r->list.n - 1;
}

/* Changes the race so that it is reported as it is at this failure point. */
static void move_race(const struct explorer *e, struct race *race, const struct race *key,
		      const struct run_decision *d, const struct verdict *v)
{
	race_describe(race, e, d, d->mask, v);
	free(race->values);
	race->values = values_text(&e->set, d);
	race->store = key->store;
}

/* Opens a race that was seen only where nothing is wrong with it: from now on it is reported as it
 * is at this failure point, and judged anew. */
static void begin_race(const struct explorer *e, struct race *race, const struct race *key,
		       const struct run_decision *d, const struct verdict *v)
{
	move_race(e, race, key, d, v);
	race->is_porting = key->is_porting;
	race->state = RACE_UNKNOWN;
	race->count = 0;
}

/* Do all possible contents agree on the whole word that was read, not only on a byte of it? */
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

		if (o->race == p->race && o->line == p->line && o->at == p->at &&
		    o->mask == p->mask)
			return;
	}
	*vec_add(&r->pieces) = *p;
}

static void note_decision(struct races *r, struct explorer *e, const struct run_decision *d,
			  enum recovery_part part, bool is_porting, const struct verdict *v)
{
	const struct state_line *l = &e->set.lines.at[d->line];
	uint64_t addr = l->addr + d->at;
	struct race key = { .kind = RACE_UNDURABLE, .is_porting = is_porting };
	struct known_race *k;
	size_t i;

	if (d->nvalues < 2 && !(r->o->is_strict && is_word_agreed(&e->set, d)))
		return;
	if (!runner_is_judged(e->runner, d))
		return;
	key.store = last_store(e, addr, d->mask);
	if (key.store.seq == 0 || is_librarys_own(r, key.store.site) ||
	    is_trusted(e, addr, d->mask, key.store.seq) ||
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
	if (r->is_lone && k->race.state != RACE_ATOMIC)
		return;
	if (!r->is_lone && k->race.state == RACE_ATOMIC)
		begin_race(e, &k->race, &key, d, v);
	else if (e->walk->point < k->race.point)
		move_race(e, &k->race, &key, d, v);
	k->race.is_porting &= is_porting;
	if (k->seen_at != e->walk->point) {
		k->seen_at = e->walk->point;
		k->race.count++;
		k->suspect = (struct suspect){ l->addr, d->at, d->mask, key.store.seq };
	}
	k->is_asked_for |= d->nvalues < 2;
	if (!r->is_lone)
		add_piece(r, &(struct piece){ i, d->line, d->at, d->mask, d->nvalues });
}

static bool is_everything(const struct state_set *s, const uint64_t *set)
{
	uint64_t *all = states_all(s);
	bool is_same = memcmp(all, set, s->nwords * sizeof *all) == 0;

	free(all);
	return is_same;
}

void races_note_run(struct races *r, struct explorer *e, const uint64_t *before,
		    const uint64_t *left, const struct verdict *v)
{
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d), i = 0;
	struct race_run *run;
	struct ported ported;

	if (r->is_watched && r->runs.n == 0 && is_everything(&e->set, before))
		infer_note_newest(&r->common, e, &e->set, v);
	if (r->runs.n == 0)
		r->common.is_accepted = v->kind == VERDICT_OK;
	run = vec_add(&r->runs);
	*run = (struct race_run){ .outcome = v->outcome };
	sparse_take_shorter(&run->left, &e->set, left);
	ported_begin(&ported, e, before);
	for (int part = 0; part < PART_N; part++)
		for (; i < n && i < v->ndecisions[part] && i < v->ndone; i++) {
			const bool is_porting = ported_step(&ported, &d[i]);

			/* the program reads what it would have read without a crash */
			if (part == PART_THEN)
				continue;
			note_decision(r, e, &d[i], (enum recovery_part)part, is_porting, v);
			semantics_note(r->semantics, e, left, &d[i], (enum recovery_part)part,
				       is_porting, v);
			uninitialised_note(r->uninitialised, e, &d[i], (enum recovery_part)part,
					   is_porting, v);
		}
	uninitialised_end_run(r->uninitialised, e, left);
	ported_end(&ported);
}

/* ---- a failure point ---- */

static void watch_store(const struct model_store *s, void *arg)
{
	struct explorer *e = arg;

	for (uint32_t i = 0; i < s->size_bytes; i += 8)
		states_watch(&e->set, &e->walk->image, s->addr + i,
			     s->size_bytes - i < 8 ? (1u << (s->size_bytes - i)) - 1 : 0xff);
}

void races_pass_point(struct races *r, const struct explorer *e)
{
	struct model_store store;

	r->is_lone = !r->o->is_strict && lone_store_find(e->walk, r->nstores, &store);
	r->is_listed = r->is_lone && novelty_note(&r->novelty, &store);
	r->is_novel = !r->is_lone && novelty_step(&r->novelty, e->walk);
	r->is_watched = r->is_novel && e->strategy->is_single;
	r->nstores = e->walk->nstores;
}

bool races_is_novel(const struct races *r)
{
	return r->is_novel;
}

void races_begin_point(struct races *r, struct explorer *e, bool is_again)
{
	if (!is_again)
		forget_runs(r);
	e->wants_reads = !r->is_lone || r->is_listed;
	if (r->is_watched)
		infer_watch(&e->set, e->walk);
	semantics_begin_point(r->semantics, e);
	uninitialised_begin_point(r->uninitialised, e);
	if (r->o->is_strict)
		model_each(e->walk->model, 0, UINT64_MAX, watch_store, e);
	states_sort(&e->set);
}

int races_end_point(struct races *r, struct explorer *e, struct error *err)
{
	return race_conclude(r, e, err) < 0 ? -1 : races_end_visit(r, e, err);
}

/* Judges the semantic and the uninitialised findings of the visit. They depend on where the walk
 * stands, so they cannot wait. */
int races_end_visit(struct races *r, struct explorer *e, struct error *err)
{
	return semantics_end_point(r->semantics, e, err) < 0
		       ? -1
		       : uninitialised_end_visit(r->uninitialised, e, err);
}

/* ---- between visits ---- */

struct race_notes {
	bool is_lone, is_listed, is_accepted;
	piece_list pieces;
	race_run_list runs;
	VEC(struct {
		size_t race;
		struct suspect suspect;
	})
	here; /* the races that were seen */
	seen_list semantic, uninitialised;
};

struct race_notes *races_put_away(struct races *r, uint64_t point)
{
	struct race_notes *n = xcalloc(1, sizeof *n);

	n->is_lone = r->is_lone;
	n->is_listed = r->is_listed;
	n->is_accepted = r->common.is_accepted;
	n->pieces = r->pieces;
	n->runs = r->runs;
	r->pieces = (piece_list){ 0 };
	r->runs = (race_run_list){ 0 };
	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.at[i].seen_at == point) {
			vec_add(&n->here)->race = i;
			n->here.at[n->here.n - 1].suspect = r->list.at[i].suspect;
		}
	semantics_seen(r->semantics, point, &n->semantic);
	uninitialised_seen(r->uninitialised, point, &n->uninitialised);
	return n;
}

void races_take_up(struct races *r, uint64_t point, struct race_notes *n)
{
	forget_runs(r);
	vec_release(&r->pieces);
	vec_release(&r->runs);
	r->is_lone = n->is_lone;
	r->is_listed = n->is_listed;
	r->is_watched = false;
	r->common.is_accepted = n->is_accepted;
	r->pieces = n->pieces;
	r->runs = n->runs;
	n->pieces = (piece_list){ 0 };
	n->runs = (race_run_list){ 0 };
	for (size_t i = 0; i < n->here.n; i++) {
		struct known_race *k = &r->list.at[n->here.at[i].race];

		k->seen_at = point;
		k->suspect = n->here.at[i].suspect;
	}
	semantics_see(r->semantics, point, &n->semantic);
	uninitialised_see(r->uninitialised, point, &n->uninitialised);
	race_notes_free(n);
}

void race_notes_free(struct race_notes *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->runs.n; i++)
		sparse_release(&n->runs.at[i].left);
	vec_release(&n->runs);
	vec_release(&n->pieces);
	vec_release(&n->here);
	vec_release(&n->semantic);
	vec_release(&n->uninitialised);
	free(n);
}

race_turns *races_turns(struct races *r)
{
	return &r->turns;
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
