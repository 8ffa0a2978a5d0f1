/* Finds reads of memory that an allocator gave out and that was never stored to. The allocator
 * announces such memory: PMDK announces each block to memcheck, and zeroed or constructed memory is
 * stored to before anybody can reach it. A read is reported if recovery ends differently when the
 * bytes are different (fill.h). Recovery may, for example, read a value before its key, see that
 * the key is zero, and not use the value. */
#include "crash/races/uninitialised.h"

#include "crash/races/fill.h"
#include "crash/races/readers.h"
#include "crash/races/race.h"

#define LINES_MAX 512u /* watched at a failure point */
#define FINDINGS_MAX 4096u

struct found {
	struct race race;  /* its state is BUG as soon as a trial shows a difference */
	uint64_t seen_at;  /* failure point */
	bool is_undecided; /* a trial could not be made, or proved nothing */
};

/* What a run read of one finding. */
struct read_here {
	size_t finding;
	struct race race; /* as it is at this failure point */
	struct suspects words;
};

/* A run with such reads, until it is tried. */
struct reading_run {
	struct sparse_set left; /* the states for which it stands */
	VEC(struct read_here) reads;
};

struct uninitialised {
	const struct race_options *o;
	VEC(struct found) list;
	VEC(struct reading_run) runs; /* of this visit of the failure point */
	bool is_running;              /* the last of the runs is not over yet */
};

struct uninitialised *uninitialised_new(const struct race_options *o)
{
	struct uninitialised *u = xcalloc(1, sizeof *u);

	u->o = o;
	return u;
}

static void read_release(struct read_here *h)
{
	race_release(&h->race);
	vec_release(&h->words);
}

static void forget_runs(struct uninitialised *u)
{
	for (size_t i = 0; i < u->runs.n; i++) {
		struct reading_run *run = &u->runs.at[i];

		for (size_t k = 0; k < run->reads.n; k++)
			read_release(&run->reads.at[k]);
		vec_release(&run->reads);
		sparse_release(&run->left);
	}
	u->runs.n = 0;
	u->is_running = false;
}

void uninitialised_free(struct uninitialised *u)
{
	forget_runs(u);
	vec_release(&u->runs);
	for (size_t i = 0; i < u->list.n; i++)
		race_release(&u->list.at[i].race);
	vec_release(&u->list);
	free(u);
}

/* Watches blocks that were allocated recently, because an object is most likely read uninitialised
 * soon after it was published; at the end of the walk, watches all that never got contents. Bytes
 * behind the requested size are never stored to. Watching them would make every access to their
 * pages slow, all the time. */
void uninitialised_begin_point(struct uninitialised *u, struct explorer *e)
{
	forget_runs(u); /* these runs are made again */
	shadow_each_uninitialised(e->walk->shadow, e->walk->is_over ? 0 : e->walk->recent_seq,
				  LINES_MAX, race_watch, e);
}

/* Gives the block if none of the bytes that a plain load reads has been initialised. */
static const struct shadow_block *block_of(const struct explorer *e, const struct run_decision *d)
{
	const uint64_t addr = e->set.lines.at[d->line].addr + d->at;
	const struct shadow_block *b = NULL;

	if (d->access_bytes > 8 || (uint32_t)__builtin_popcountll(d->mask) != d->access_bytes)
		return NULL;
	for (uint64_t m = d->mask; m; m &= m - 1) {
		b = shadow_uninitialised(e->walk->shadow, addr + (uint64_t)__builtin_ctzll(m));
		if (!b)
			return NULL;
	}
	return b;
}

static struct found *find(struct uninitialised *u, const struct race *key)
{
	for (size_t i = 0; i < u->list.n; i++)
		if (race_same(&u->list.at[i].race, key))
			return &u->list.at[i];
	if (u->list.n == FINDINGS_MAX)
		return NULL;
	*vec_add(&u->list) = (struct found){ .race = *key };
	return &u->list.at[u->list.n - 1];
}

/* Changes the known race so that it is reported as it is at this failure point. */
static void move(struct race *known, struct race *here)
{
	struct race old = *known;

	*known = *here;
	known->state = old.state;
	known->count = old.count;
	known->is_porting = old.is_porting;
	free(known->values);
	known->values = old.values;
	old.values = NULL;
	*here = (struct race){ 0 };
	race_release(&old);
}

static struct read_here *read_of(struct uninitialised *u, size_t finding)
{
	struct reading_run *run;

	if (!u->is_running)
		*vec_add(&u->runs) = (struct reading_run){ 0 };
	u->is_running = true;
	run = &u->runs.at[u->runs.n - 1];
	for (size_t i = 0; i < run->reads.n; i++)
		if (run->reads.at[i].finding == finding)
			return &run->reads.at[i];
	*vec_add(&run->reads) = (struct read_here){ .finding = finding };
	return &run->reads.at[run->reads.n - 1];
}

void uninitialised_note(struct uninitialised *u, const struct explorer *e,
			const struct run_decision *d, enum recovery_part part, bool is_porting,
			const struct verdict *v)
{
	const struct shadow_block *b =
		d->nvalues == 1 && runner_is_judged(e->runner, d) ? block_of(e, d) : NULL;
	struct race key = { .kind = RACE_UNINITIALISED,
			    .state = RACE_HARMLESS,
			    .is_porting = is_porting };
	struct read_here *here;
	struct found *f;

	if (!b || b->given.is_trusted ||
	    reader_is_libc(e->runner, recovery_command(e->recovery, part), d))
		return;
	key.store = (struct crash_store){ b->given.seq, b->given.site ? b->given.site->id : 0 };
	if (!race_set_reader(&key, u->o, e, part, d))
		return;
	f = find(u, &key);
	if (!f)
		return;
	if (f->race.count == 0)
		race_describe(&f->race, e, d, d->mask, v);
	f->race.is_porting &= is_porting;
	f->race.count += f->seen_at != e->walk->point;
	f->seen_at = e->walk->point;
	here = read_of(u, (size_t)(f - u->list.at));
	if (here->words.n == 0) {
		here->race = key;
		race_describe(&here->race, e, d, d->mask, v);
	}
	*vec_add(&here->words) =
		(struct suspect){ e->set.lines.at[d->line].addr, d->at, d->mask, b->given.seq };
}

void uninitialised_end_run(struct uninitialised *u, const struct explorer *e, const uint64_t *left)
{
	if (u->is_running)
		sparse_take_shorter(&u->runs.at[u->runs.n - 1].left, &e->set, left);
	u->is_running = false;
}

/* ---- trials ---- */

/* Can a trial show something new: how the finding shows, or that it shows at an earlier failure
 * point? */
static bool is_open(const struct uninitialised *u, const struct explorer *e,
		    const struct read_here *h)
{
	const struct found *f = &u->list.at[h->finding];

	return f->race.state != RACE_BUG || e->walk->point < f->race.point;
}

static void judge(struct uninitialised *u, struct read_here *h, enum filled found, char **how)
{
	struct found *f = &u->list.at[h->finding];
	const bool is_better =
		found == FILLED_DIFFERS
			? f->race.state != RACE_BUG || h->race.point < f->race.point
			: found == FILLED_UNKNOWN && f->race.state != RACE_BUG && !f->is_undecided;

	if (is_better)
		move(&f->race, &h->race);
	f->is_undecided |= found == FILLED_UNKNOWN;
	if (found != FILLED_DIFFERS || !is_better)
		return;
	f->race.state = RACE_BUG;
	free(f->race.values);
	f->race.values = *how ? xstrdup(*how) : NULL;
}

/* Tries each finding of a run alone. If only all of them together make a difference, all are
 * reported. */
static int judge_each(struct uninitialised *u, struct explorer *e, const uint64_t *state,
		      struct reading_run *run, char **together, struct error *err)
{
	bool is_any = false;

	for (size_t i = 0; i < run->reads.n; i++) {
		struct read_here *h = &run->reads.at[i];
		char *how = NULL;
		enum filled found;

		if (!is_open(u, e, h))
			continue;
		found = fill_try(e, state, &h->words, &how, err);
		if (found != FILLED_ERROR)
			judge(u, h, found, &how);
		free(how);
		if (found == FILLED_ERROR)
			return -1;
		is_any |= found != FILLED_SAME;
	}
	for (size_t i = 0; i < run->reads.n && !is_any; i++)
		if (is_open(u, e, &run->reads.at[i]))
			judge(u, &run->reads.at[i], FILLED_DIFFERS, together);
	return 0;
}

static int try_run(struct uninitialised *u, struct explorer *e, struct reading_run *run,
		   struct error *err)
{
	uint64_t *left = states_all(&e->set), *state;
	struct suspects words = { 0 };
	char *how = NULL;
	enum filled found = FILLED_SAME;
	size_t nopen = 0;
	int result = 0;

	sparse_expand(&run->left, &e->set, left);
	state = explorer_state(e, left);
	for (size_t i = 0; i < run->reads.n; i++) {
		nopen += is_open(u, e, &run->reads.at[i]);
		for (size_t k = 0; k < run->reads.at[i].words.n && is_open(u, e, &run->reads.at[i]);
		     k++)
			*vec_add(&words) = run->reads.at[i].words.at[k];
	}
	if (nopen > 0)
		found = explorer_may_run(e) ? fill_try(e, state, &words, &how, err)
					    : FILLED_UNKNOWN;
	if (found == FILLED_ERROR)
		result = -1;
	else if (found == FILLED_DIFFERS && nopen > 1)
		result = judge_each(u, e, state, run, &how, err);
	else
		for (size_t i = 0; i < run->reads.n; i++)
			if (is_open(u, e, &run->reads.at[i]))
				judge(u, &run->reads.at[i], found, &how);
	vec_release(&words);
	free(left);
	free(state);
	free(how);
	return result;
}

int uninitialised_end_visit(struct uninitialised *u, struct explorer *e, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < u->runs.n && result == 0; i++)
		result = try_run(u, e, &u->runs.at[i], err);
	forget_runs(u);
	return result;
}

/* Marks findings that could not be tried before the budget ended. */
static void give_up(struct uninitialised *u)
{
	for (size_t i = 0; i < u->runs.n; i++)
		for (size_t k = 0; k < u->runs.at[i].reads.n; k++)
			judge(u, &u->runs.at[i].reads.at[k], FILLED_UNKNOWN, NULL);
	forget_runs(u);
	for (size_t i = 0; i < u->list.n; i++)
		if (u->list.at[i].is_undecided && u->list.at[i].race.state != RACE_BUG)
			u->list.at[i].race.state = RACE_UNTRIED;
}

size_t uninitialised_n(struct uninitialised *u)
{
	give_up(u);
	return u->list.n;
}

const struct race *uninitialised_at(const struct uninitialised *u, size_t i)
{
	return &u->list.at[i].race;
}

void uninitialised_seen(const struct uninitialised *s, uint64_t point, seen_list *list)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.at[i].seen_at == point)
			*vec_add(list) = i;
}

void uninitialised_see(struct uninitialised *s, uint64_t point, const seen_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		s->list.at[list->at[i]].seen_at = point;
}
