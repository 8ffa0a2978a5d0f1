/* Finds reads of bytes that a commit variable calls uncommitted or stale. The shadow memory lists
 * beforehand the bytes that are inconsistent with some value that a commit variable can have after
 * a crash here. The runtime lists first reads of these bytes, unless recovery wrote them before.
 * After a run, the variable's value in that run decides. If the program does not say what its
 * variable decides about, stale bytes count only if the variable makes recovery read them
 * (commit_guard.h): data that no later version replaces stays valid forever. */
#include "crash/races/semantic.h"

#include <stdio.h>
#include <string.h>

#include "crash/races/commit_guard.h"
#include "crash/races/race.h"

#define LINES_MAX 2048u /* watched at a failure point */
/* the same if a variable decides about all of PM, so that everything ever stored to is doubtful */
#define ALL_LINES_MAX 512u
#define FINDINGS_MAX 4096u

struct finding {
	struct race race;
	uint64_t seen_at;         /* failure point */
	struct race_entry *known; /* NULL: nothing yet */
	/* asked at the end of the failure point; other is NULL: no question */
	struct guard_question question;
};

struct semantics {
	const struct race_options *o;
	struct race_table *table;
	uint32_t worker;
	race_turns *turns;
	VEC(struct finding) list;
};

struct semantics *semantics_new(const struct race_options *o, struct race_table *table,
				uint32_t worker, race_turns *turns)
{
	struct semantics *s = xcalloc(1, sizeof *s);

	s->o = o;
	s->table = table;
	s->worker = worker;
	s->turns = turns;
	return s;
}

static void forget_question(struct finding *f)
{
	free(f->question.other);
	f->question = (struct guard_question){ 0 };
}

void semantics_free(struct semantics *s)
{
	for (size_t i = 0; i < s->list.n; i++) {
		forget_question(&s->list.at[i]);
		race_release(&s->list.at[i].race);
	}
	vec_release(&s->list);
	free(s);
}

void semantics_begin_point(struct semantics *s, struct explorer *e)
{
	(void)s;
	shadow_each_doubtful(e->walk->shadow,
			     shadow_commits(e->walk->shadow)->ranges.n ? LINES_MAX : ALL_LINES_MAX,
			     race_watch, e);
}

/* ---- one read ---- */

/* Reads the value that the variable has in a run. */
static void read_variable(const struct explorer *e, const uint64_t *left,
			  const struct commit_var *v, uint8_t *to)
{
	const struct state_set *s = &e->set;

	for (uint64_t i = 0; i < v->len_bytes; i++) {
		const struct state_line *l = states_line(s, v->addr + i);

		if (l)
			to[i] = state_content(s, l,
					      states_newest_left(l, left))[v->addr + i - l->addr];
		else
			image_read(&e->walk->image, v->addr + i, &to[i], 1);
	}
}

struct judged {
	enum commit_state state;
	const struct commit_var *var;
	const struct commit_write *write;
	struct shadow_write store;
	uint64_t last_seq;
};

/* Does the run not show the last store? Then the read is at most a race. */
static bool is_lost(const struct explorer *e, const struct run_decision *d, uint32_t at)
{
	const struct state_line *l = &e->set.lines.at[d->line];

	return state_content(&e->set, l, d->chosen)[at] !=
	       state_content(&e->set, l, l->ncontents - 1)[at];
}

/* Does PMDK commit the write in its own way: by a transaction, or because PMDK stores it itself or
 * in a constructor? */
static bool is_libraries(const struct semantics *s, const struct shadow_write *w)
{
	return w->is_in_tx || (w->site && w->site->id < s->o->library_sites.n &&
			       s->o->library_sites.at[w->site->id]);
}

static struct judged judge_byte(const struct semantics *s, const struct explorer *e,
				const uint64_t *left, const struct run_decision *d, uint32_t i)
{
	const uint64_t addr = e->set.lines.at[d->line].addr + d->at + i;
	const struct shadow *shadow = e->walk->shadow;
	struct judged j = { .var = commits_governor(shadow_commits(shadow), addr) };
	struct shadow_byte b = shadow_byte(shadow, addr);
	uint8_t *value;

	if (!j.var || j.var->scope == COMMIT_NOTHING || is_lost(e, d, d->at + i))
		return j;
	value = xmalloc(j.var->len_bytes);
	read_variable(e, left, j.var, value);
	j.state = commit_var_judge(j.var, value,
				   shadow_is_persisted(shadow, j.var->addr, j.var->len_bytes),
				   b.last.seq, b.changed.seq, &j.write);
	free(value);
	j.store = j.state == COMMIT_UNCOMMITTED ? b.changed : b.last;
	j.last_seq = b.last.seq;
	if (j.store.is_trusted)
		j.state = COMMIT_CONSISTENT;
	if (j.var->scope != COMMIT_RANGES && is_libraries(s, &j.store))
		j.state = COMMIT_CONSISTENT;
	return j;
}

static struct crash_store commit_store(uint64_t seq, const struct trace_site *site)
{
	return (struct crash_store){ site ? seq : 0, site ? site->id : 0 };
}

static void describe(struct race *r, const struct explorer *e, const struct judged *j,
		     const struct run_decision *d, uint64_t mask, const struct verdict *v)
{
	r->kind = j->state == COMMIT_STALE ? RACE_STALE : RACE_UNCOMMITTED;
	r->store = (struct crash_store){ j->store.seq, j->store.site ? j->store.site->id : 0 };
	r->commits[0] = commit_store(j->write->last_seq, j->write->site);
	r->commits[1] = commit_store(j->write->before_seq, j->write->before);
	r->is_ranged = j->var->scope == COMMIT_RANGES;
	race_describe(r, e, d, mask, v);
}

static struct finding *find(struct semantics *s, const struct race *key)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (race_same(&s->list.at[i].race, key))
			return &s->list.at[i];
	return NULL;
}

/* Is more than the order of stores needed to call this a bug? */
static bool is_in_question(const struct judged *j)
{
	if (j->var->scope == COMMIT_READ)
		return true;
	return j->state == COMMIT_STALE && !(j->var->scope == COMMIT_RANGES &&
					     commit_var_recurs(j->var, j->write, j->last_seq));
}

/* Was the question about the finding asked often enough, here or by other workers? */
static bool is_known(const struct semantics *s, struct finding *f)
{
	struct race_entry key = race_key(&f->race);

	if (!f->known)
		f->known = race_table_find(s->table, &key);
	return f->known && race_entry_is_final(f->known);
}

static void note(struct semantics *s, struct explorer *e, const struct judged *j,
		 const struct run_decision *d, uint64_t mask, enum recovery_part part,
		 bool is_porting, const struct verdict *v)
{
	struct race key = { .kind = RACE_STALE,
			    .is_porting = is_porting,
			    .state = RACE_HARMLESS /* until everything is known */,
			    .store.site = j->store.site ? j->store.site->id : 0 };
	bool is_certain = !is_in_question(j);
	const uint8_t *other;
	struct finding *f;

	if (!race_set_reader(&key, s->o, e, part, d))
		return;
	f = find(s, &key);
	if (!f && s->list.n < FINDINGS_MAX) {
		f = vec_add(&s->list);
		*f = (struct finding){ .race = key };
	}
	if (!f)
		return;
	if (f->race.count == 0 ||
	    (is_certain && !f->race.is_certain) /* a certain finding is worth reporting */ ||
	    (is_certain == f->race.is_certain && e->walk->point < f->race.point))
		describe(&f->race, e, j, d, mask, v);
	f->race.is_certain |= is_certain;
	f->race.is_porting &= is_porting;
	f->race.count += f->seen_at != e->walk->point;
	f->seen_at = e->walk->point;
	other = commit_var_other(j->var, j->write);
	if (f->race.is_certain || f->question.other || !other || is_known(s, f))
		return;
	f->question = (struct guard_question){ .var = j->var,
					       .other = memcpy(xmalloc(j->var->len_bytes), other,
							       j->var->len_bytes),
					       .addr = e->set.lines.at[d->line].addr + d->at,
					       .mask = mask };
}

void semantics_note(struct semantics *s, struct explorer *e, const uint64_t *left,
		    const struct run_decision *d, enum recovery_part part, bool is_porting,
		    const struct verdict *v)
{
	uint64_t rest = d->nvalues == 1 && runner_is_judged(e->runner, d) &&
					shadow_commits(e->walk->shadow)->vars.n
				? d->mask
				: 0;

	while (rest) {
		struct judged first = judge_byte(s, e, left, d, (uint32_t)__builtin_ctzll(rest));
		uint64_t mask = 0;

		for (uint64_t m = rest; m; m &= m - 1) {
			struct judged j = judge_byte(s, e, left, d, (uint32_t)__builtin_ctzll(m));

			if (j.state == first.state && j.var == first.var &&
			    j.store.seq == first.store.seq)
				mask |= m & -m;
		}
		if (first.state != COMMIT_CONSISTENT)
			note(s, e, &first, d, mask, part, is_porting, v);
		rest &= ~(mask | (rest & -rest));
	}
}

/* ---- a failure point ---- */

/* Asks once more, unless other failure points have shown enough meanwhile. */
static enum commit_guard try_question(struct semantics *s, struct finding *f, struct explorer *e,
				      struct error *err)
{
	struct race_entry key = race_key(&f->race), before;
	enum commit_guard found;

	f->known = race_table_get(s->table, &key);
	if (!f->known || race_entry_is_final(f->known))
		return GUARD_UNKNOWN;
	before = *f->known;
	f->known->tries++;
	found = commit_guard_ask(e, &f->question, err);
	f->known->nselected += found == GUARD_YES;
	f->known->nrefuted += found == GUARD_NOT;
	f->known->is_closed = f->known->nrefuted > 0;
	if (s->turns) {
		struct race_turn *t = race_turns_add(s->turns, e->round, e->walk->point, true);

		*vec_add(&t->changes) = (struct race_change){ before, *f->known };
	}
	return found;
}

int semantics_end_point(struct semantics *s, struct explorer *e, struct error *err)
{
	enum commit_guard found = GUARD_UNKNOWN;

	for (size_t i = 0; i < s->list.n && found != GUARD_ERROR; i++) {
		struct finding *f = &s->list.at[i];

		if (!f->question.other)
			continue;
		if (!f->race.is_certain &&
		    race_table_wait(s->table, s->worker, &e->counters->is_stopped) &&
		    explorer_may_run(e))
			found = try_question(s, f, e, err);
		forget_question(f);
	}
	return found == GUARD_ERROR ? -1 : 0;
}

size_t semantics_n(const struct semantics *s)
{
	return s->list.n;
}

const struct race *semantics_at(const struct semantics *s, size_t i)
{
	return &s->list.at[i].race;
}

void semantics_seen(const struct semantics *s, uint64_t point, seen_list *list)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.at[i].seen_at == point)
			*vec_add(list) = i;
}

void semantics_see(struct semantics *s, uint64_t point, const seen_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		s->list.at[list->at[i]].seen_at = point;
}
