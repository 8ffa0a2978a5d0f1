/* Says what kind of bug a failing state shows, and which lost and surviving stores show it. The
 * state is minimised first. The kinds:
 *   ordering          a store survived that is later than a lost one, or the program had
 *                     acknowledged the lost one: the lost store should have been durable first
 *   missing-flush     the lost store is never written back in the whole run
 *   atomicity         the state is one that the program had at some moment: the stores need a
 *                     transaction or a commit variable
 *   recovery-failure  recovery fails although nothing was stored at all
 *   porting           an amd64 recording on arm64: like ordering, but amd64 keeps the order,
 *                     because both stores are in one line */
#include "crash/search/explain.h"

#include <stdio.h>
#include <string.h>

#include "crash/search/blame.h"
#include "crash/search/dump_texts.h"
#include "crash/search/state_text.h"
#include "crash/search/surroundings.h"

#define OUTPUT_TAIL 400 /* bytes */
#define STORES_MAX 8    /* stores in a list */
#define ENDINGS_MAX 16u
#define UNTORN_BYTES 8u /* an aligned store of so many bytes is not torn */

void crash_bug_release(struct crash_bug *b)
{
	vec_release(&b->lost);
	vec_release(&b->survived);
	vec_release(&b->places);
	vec_release(&b->stack);
	crash_choices_release(&b->choices);
	free(b->outcome);
	free(b->command);
	free(b->output);
	free(b->found);
	vec_release(&b->allowed);
	free(b->state);
	free(b->undecided_by);
	free(b->why_undecided);
	for (size_t i = 0; i < b->endings.n; i++)
		free(b->endings.at[i]);
	vec_release(&b->endings);
}

void crash_bug_ends(struct crash_bug *b, char *text)
{
	size_t at = 0;
	int order = 1;

	while (at < b->endings.n && (order = strcmp(b->endings.at[at], text)) < 0)
		at++;
	if (order == 0 || at == ENDINGS_MAX) { /* the first ones stay, whichever worker adds more */
		free(text);
		return;
	}
	if (b->endings.n == ENDINGS_MAX)
		free(b->endings.at[--b->endings.n]);
	vec_add(&b->endings);
	memmove(b->endings.at + at + 1, b->endings.at + at,
		(b->endings.n - 1 - at) * sizeof *b->endings.at);
	b->endings.at[at] = text;
}

/* ---- lost stores ---- */

struct losses {
	VEC(struct crash_store) stores;
};

static void add_loss(const struct model_lost *s, void *arg)
{
	struct losses *l = arg;

	*vec_add(&l->stores) = (struct crash_store){ s->seq, site_id(s->site) };
}

/* Collects all stores that the state loses, the oldest first. */
static void collect_losses(const struct explorer *e, const uint64_t *state, struct losses *out)
{
	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		uint32_t c = states_newest_left(l, state);

		if (c < l->ncontents - 1)
			model_each_lost(e->walk->model, l->addr, state_content(&e->set, l, c),
					add_loss, out);
	}
	if (out->stores.n > 0)
		qsort(out->stores.at, out->stores.n, sizeof *out->stores.at, crash_store_order);
}

/* The parts of a store that a state loses. */
struct torn_look {
	uint64_t seq;
	const struct trace_site *site;
	uint64_t lost_bytes;
	bool is_partly;
};

static void add_part(const struct model_lost *s, void *arg)
{
	struct torn_look *t = arg;

	if (s->seq != t->seq)
		return;
	t->site = s->site;
	t->lost_bytes += s->size_bytes;
	t->is_partly |= s->is_partly;
}

/* Is only a part of the store lost? It may be in one line, or in two. */
static enum crash_torn torn_of(const struct explorer *e, const uint64_t *state, uint64_t seq)
{
	struct torn_look t = { .seq = seq };

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		const uint32_t c = states_newest_left(l, state);

		if (c < l->ncontents - 1)
			model_each_lost(e->walk->model, l->addr, state_content(&e->set, l, c),
					add_part, &t);
	}
	if (!t.site || (!t.is_partly && t.lost_bytes >= t.site->size_bytes))
		return CRASH_NOT_TORN;
	return t.site->size_bytes > UNTORN_BYTES ? CRASH_TORN_LONG : CRASH_TORN_UNALIGNED;
}

static void look_around(struct explorer *e, const struct losses *lost, struct surroundings *out)
{
	surroundings_look(&e->around, e->walk, lost->stores.at, lost->stores.n, out);
}

/* ---- kinds ---- */

static void add_store(struct crash_bug *b, bool is_lost_one, struct crash_store s)
{
	if (s.seq == 0)
		return;
	if (is_lost_one && b->lost.n < STORES_MAX)
		*vec_add(&b->lost) = s;
	else if (!is_lost_one && b->survived.n < STORES_MAX)
		*vec_add(&b->survived) = s;
}

/* Names the store to blame: the oldest lost one that the program did not declare unimportant; if
 * all were declared, the oldest. */
static struct crash_store blamed(const struct explorer *e, const struct losses *l)
{
	for (size_t i = 0; i < l->stores.n; i++)
		if (!plan_is_declared(e->walk->plan, l->stores.at[i].seq))
			return l->stores.at[i];
	return l->stores.at[0];
}

/* Adds the lost stores to the bug; those that were declared unimportant come last. */
static void add_losses(const struct explorer *e, struct crash_bug *b, const struct losses *l)
{
	for (int is_declared = 0; is_declared < 2; is_declared++)
		for (size_t i = 0; i < l->stores.n; i++)
			if (plan_is_declared(e->walk->plan, l->stores.at[i].seq) == is_declared)
				add_store(b, true, l->stores.at[i]);
}

/* Describes a crash between two stores that belong together: no earlier store is lost, or only the
 * newest ones are. */
static void classify_prefix(const struct explorer *e, struct crash_bug *b,
			    const struct losses *lost, const struct surroundings *around)
{
	b->kind = around->before.seq ? "atomicity" : "recovery-failure";
	add_store(b, false, around->before);
	if (lost->stores.n > 0)
		add_losses(e, b, lost);
	else if (around->before.seq)
		add_store(b, true, around->after);
}

static bool is_among(const struct losses *l, uint64_t seq)
{
	for (size_t i = 0; i < l->stores.n; i++)
		if (l->stores.at[i].seq == seq)
			return true;
	return false;
}

/* Finds the last surviving store in lines that show a later store without an earlier one. */
static struct crash_store survivor_in_line(const struct explorer *e, const uint64_t *state)
{
	struct crash_store last = { 0 };

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];
		struct losses all = { 0 }, lost = { 0 };

		if (minimise_is_gap(e, l, state)) {
			model_each_lost(e->walk->model, l->addr, state_content(&e->set, l, 0),
					add_loss, &all);
			model_each_lost(e->walk->model, l->addr,
					state_content(&e->set, l, states_newest_left(l, state)),
					add_loss, &lost);
		}
		for (size_t k = 0; k < all.stores.n; k++)
			if (all.stores.at[k].seq > last.seq &&
			    !is_among(&lost, all.stores.at[k].seq))
				last = all.stores.at[k];
		vec_release(&all.stores);
		vec_release(&lost.stores);
	}
	return last;
}

/* Finds the last store after `seq` that must survive for recovery to fail, although this crash
 * could have lost it. The state comes from minimise_survivors(), so these stores are in the lines
 * that still lose nothing. seq 0 in the result: what must survive was durable already. */
static struct crash_store needed_survivor(const struct explorer *e, const uint64_t *state,
					  uint64_t seq)
{
	struct crash_store last = { 0 };
	struct losses whole = { 0 };

	for (size_t i = 0; i < e->set.lines.n; i++) {
		const struct state_line *l = &e->set.lines.at[i];

		if (l->ncontents > 1 && states_newest_left(l, state) == l->ncontents - 1)
			model_each_lost(e->walk->model, l->addr, state_content(&e->set, l, 0),
					add_loss, &whole);
	}
	for (size_t i = 0; i < whole.stores.n; i++)
		if (whole.stores.at[i].seq > seq && whole.stores.at[i].seq > last.seq)
			last = whole.stores.at[i];
	vec_release(&whole.stores);
	return last;
}

/* Is a dump wrong because it lacks a store that was acknowledged before the crash, although no
 * later store survived? */
static bool is_of_the_past(const struct verdict *v, const struct surroundings *around)
{
	return !around->survivor.seq && v->kind == VERDICT_DUMP && around->acknowledged.seq;
}

static void classify_acknowledged(struct explorer *e, struct crash_bug *b,
				  const struct losses *lost, const struct surroundings *around)
{
	b->kind = plan_is_never_persisted(e->walk->plan, blamed(e, lost).seq) ? "missing-flush"
									      : "ordering";
	add_losses(e, b, lost);
	b->acknowledged = around->acknowledged;
}

/* Describes a state in which stores survived that are later than a lost store. Names the last
 * survivor without which recovery would not fail. few: a failing state with few survivors. */
static enum minimise_end classify_order(struct explorer *e, uint64_t *few, const struct verdict *v,
					const struct losses *lost,
					const struct surroundings *around, struct crash_bug *b,
					struct error *err)
{
	enum minimise_end end = minimise_survivors(e, few, v, err);
	struct crash_store needed;
	struct surroundings then;
	struct losses more = { 0 };

	if (end != MINIMISE_DONE)
		return end;
	collect_losses(e, few, &more);
	look_around(e, &more, &then);
	if (is_of_the_past(v, &then)) {
		classify_acknowledged(e, b, lost, &then);
	} else if (!then.survivor.seq && (then.before.seq || around->before.seq)) {
		classify_prefix(e, b, &more, &then);
		b->lost.n = 0;
		add_losses(e, b, lost);
	} else {
		b->kind = plan_is_never_persisted(e->walk->plan, blamed(e, lost).seq) &&
					  !b->is_in_line
				  ? "missing-flush"
				  : "ordering";
		add_losses(e, b, lost);
		needed = b->is_in_line ? survivor_in_line(e, few)
				       : needed_survivor(e, few, blamed(e, lost).seq);
		b->is_survivor_guessed = !needed.seq && then.survivor.seq;
		add_store(b, false, b->is_survivor_guessed ? then.survivor : needed);
	}
	vec_release(&more.stores);
	return MINIMISE_DONE;
}

/* Finds the last store that must survive for recovery to fail, although this crash could have lost
 * it. If there is none, what must survive was durable already. */
static enum minimise_end find_needed(struct explorer *e, const uint64_t *few,
				     const struct verdict *v, struct crash_store *needed,
				     struct error *err)
{
	uint64_t *smallest = states_copy(&e->set, few);
	enum minimise_end end = minimise_survivors(e, smallest, v, err);

	*needed =
		end == MINIMISE_DONE ? needed_survivor(e, smallest, 0) : (struct crash_store){ 0 };
	free(smallest);
	return end;
}

/* Describes a crash between two stores. The store right before the crash may not matter, so the
 * survivor that matters is searched. */
static enum minimise_end classify_between(struct explorer *e, const uint64_t *few,
					  const struct verdict *v, const struct losses *lost,
					  struct surroundings *around, struct crash_bug *b,
					  struct error *err)
{
	struct crash_store needed = { 0 };
	enum minimise_end end =
		around->before.seq ? find_needed(e, few, v, &needed, err) : MINIMISE_DONE;

	b->is_survivor_guessed = around->before.seq && !needed.seq;
	if (needed.seq)
		around->before = needed;
	classify_prefix(e, b, lost, around);
	return end;
}

static enum minimise_end classify(struct explorer *e, const uint64_t *cause, uint64_t *few,
				  const struct verdict *v, struct crash_bug *b, struct error *err)
{
	struct surroundings around;
	struct losses lost = { 0 };
	enum minimise_end end = MINIMISE_DONE;

	collect_losses(e, cause, &lost);
	look_around(e, &lost, &around);
	if (is_of_the_past(v, &around) || (v->kind == VERDICT_DUMP && around.acknowledged.seq &&
					   allowed_is_denied(&e->allowed, v->dump_hash)))
		classify_acknowledged(e, b, &lost, &around);
	else if (!around.survivor.seq)
		end = classify_between(e, few, v, &lost, &around, b, err);
	else
		end = classify_order(e, few, v, &lost, &around, b, err);
	vec_release(&lost.stores);
	return end;
}

/* ---- the outcome ---- */

static char *tail(const char *text, size_t len_bytes)
{
	while (len_bytes > 0 && text[len_bytes - 1] == '\n')
		len_bytes--;
	if (len_bytes > OUTPUT_TAIL) {
		text += len_bytes - OUTPUT_TAIL;
		len_bytes = OUTPUT_TAIL;
	}
	return strndup(text, len_bytes);
}

void crash_bug_describe(struct crash_bug *b, const struct verdict *v)
{
	const struct run_result *r = &v->result;

	b->outcome = verdict_text(v);
	b->command = v->command ? xstrdup(v->command->shown) : NULL;
	b->output = r->errors_len > 0 && v->kind != VERDICT_DUMP && v->kind != VERDICT_OUTPUT
			    ? tail(r->errors, r->errors_len)
			    : tail(r->output, r->output_len);
	if (v->kind == VERDICT_DUMP)
		b->found = dump_text_of(r->output, r->output_len);
	b->printed = verdict_printed(v);
	b->part = v->part;
	b->signal = r->signal;
	for (size_t i = 0; i < r->signal_nframes; i++)
		*vec_add(&b->stack) = r->signal_stack[i];
}

static void forget_description(struct crash_bug *b)
{
	free(b->outcome);
	free(b->command);
	free(b->output);
	free(b->found);
	b->outcome = b->command = b->output = b->found = NULL;
	b->stack.n = 0;
}

/* A failing state, and how it failed. text: the state for --replay. b: gets the description of a
 * repeated failure, with the reads that had a choice; NULL if it has one already. */
struct failure {
	struct explorer *e;
	const uint64_t *state;
	const char *text;
	const struct verdict *v;
	struct crash_bug *b;
};

static enum blame_again judge_repeated(const struct failure *f, const struct verdict *now)
{
	if (now->why_unsound || now->kind == VERDICT_OK)
		return AGAIN_FINE;
	if (!verdict_same(now, f->v))
		return AGAIN_OTHER;
	if (f->b) {
		forget_description(f->b);
		crash_bug_describe(f->b, now);
	}
	return AGAIN_SAME;
}

static enum blame_again repeat_unwatched(const struct failure *f, struct error *err)
{
	struct verdict now;

	return explorer_try(f->e, f->state, &now, err) < 0 ? AGAIN_ERROR : judge_repeated(f, &now);
}

static enum blame_again failure_repeats(void *arg, struct error *err)
{
	const struct failure *f = arg;
	struct state_set watched;
	struct verdict now;
	enum blame_again end;

	if (!f->b || f->v->kind == VERDICT_HANG || f->e->recovery->ready)
		return repeat_unwatched(f, err);
	end = choices_try(f->e, f->text, f->v, &f->b->choices, &f->b->nchoices, &now, &watched,
			  err) < 0
		      ? AGAIN_ERROR
		      : judge_repeated(f, &now);
	choices_end(f->e, &watched);
	if (end == AGAIN_SAME || end == AGAIN_ERROR)
		return end;
	f->b->varies |= !now.why_unsound; /* a replay also runs without watching */
	return repeat_unwatched(f, err);
}

/* Repeats a failure. Does recovery fail again, and is the program to blame? */
static enum minimise_end confirm(const struct failure *f, struct error *err)
{
	struct failure again = *f;
	enum runner_limit which;
	char *text;

	switch (blame_find(f->e->runner, f->v, false, failure_repeats, &again, &which, err)) {
	case BLAME_PROGRAM:
	case BLAME_EXCESS: /* with nothing lost, recovery uses less */ return MINIMISE_DONE;
	case BLAME_CHANCE: return MINIMISE_UNSTABLE;
	case BLAME_LIMIT:
		text = runner_limit_text(f->e->runner, which);
		snprintf(f->e->why_impossible, sizeof f->e->why_impossible, "%s", text);
		free(text);
		return MINIMISE_LIMITED;
	case BLAME_ERROR: break;
	}
	return MINIMISE_ERROR;
}

/* Confirms a failure with one run on the smallest loss: it is neither chance nor a limit of pmend.
 * The run also gives the description, as a replay shows it, and the reads. If the smallest loss
 * does not fail again, the state that failed first is tried, too. */
static enum minimise_end confirm_smallest(struct explorer *e, const uint64_t *ran,
					  const uint64_t *smallest, const struct verdict *v,
					  struct crash_bug *b, struct error *err)
{
	const struct failure f = { e, smallest, b->state, v, b };
	const uint64_t printed = seen_printed(&e->seen_runs, &e->set, smallest);
	enum minimise_end end = confirm(&f, err);

	if (end == MINIMISE_DONE)
		b->varies |= printed && printed != b->printed;
	if ((end != MINIMISE_UNSTABLE && end != MINIMISE_LIMITED) ||
	    memcmp(ran, smallest, e->set.nwords * sizeof *ran) == 0)
		return end;
	b->varies = true;
	return confirm(&(struct failure){ e, ran, NULL, v, NULL }, err);
}

enum minimise_end explain_confirm(struct explorer *e, const uint64_t *left, const struct verdict *v,
				  struct crash_bug *b, struct error *err)
{
	const struct verdict first = *v;
	uint64_t *smallest, *ran;
	enum minimise_end end;

	if (explorer_is_interrupted(e))
		return MINIMISE_DONE;
	smallest = state_parse(&e->set, b->state, err);
	if (!smallest)
		return MINIMISE_ERROR;
	ran = explorer_state(e, left);
	end = confirm_smallest(e, ran, smallest, &first, b, err);
	if (end == MINIMISE_DONE && first.kind == VERDICT_HANG && !e->is_brief)
		__atomic_fetch_add(&e->counters->confirmed_hangs, 1, __ATOMIC_RELAXED);
	free(smallest);
	free(ran);
	return explorer_is_interrupted(e) && end != MINIMISE_LIMITED ? MINIMISE_DONE : end;
}

void explain_begin(const struct explorer *e, const struct verdict *v, struct crash_bug *b)
{
	*b = (struct crash_bug){ .point = e->walk->point,
				 .last_point = e->walk->point,
				 .seq = e->walk->seq,
				 .at_site = site_id(e->walk->site),
				 .count = 1 };
	crash_bug_describe(b, v);
}

static struct crash_store oldest_loss(const struct explorer *e, const uint64_t *state)
{
	struct crash_store oldest = { 0 };
	struct losses lost = { 0 };

	collect_losses(e, state, &lost);
	if (lost.stores.n > 0)
		oldest = lost.stores.at[0];
	vec_release(&lost.stores);
	return oldest;
}

enum minimise_end explain(struct explorer *e, const uint64_t *left, const struct verdict *v,
			  struct crash_bug *b, struct crash_store *oldest, struct error *err)
{
	const struct verdict first = *v;
	struct minimised m;
	enum minimise_end end;

	if (verdict_is_slow(v) && e->limits.deadline_ns && clock_ns() >= e->limits.deadline_ns)
		/* minimising would take too long: each run reaches its time limit */
		return MINIMISE_LATE;
	minimise_begin(e);
	end = minimise(e, left, &m, &first, err);
	for (size_t i = 0; first.kind == VERDICT_DUMP && i < e->allowed.hashes.n; i++)
		*vec_add(&b->allowed) = e->allowed.hashes.at[i];
	if (end == MINIMISE_DONE) {
		b->is_in_line = m.has_gaps;
		b->state = state_text(&e->set, e->walk->point, m.state);
		*oldest = oldest_loss(e, m.cause);
		end = classify(e, m.cause, m.few, &first, b, err);
		if (end == MINIMISE_DONE && b->lost.n > 0)
			b->torn = torn_of(e, m.cause, b->lost.at[0].seq);
	}
	minimised_release(&m);
	if (minimise_is_spent(e))
		__atomic_fetch_add(&e->counters->unreduced, 1, __ATOMIC_RELAXED);
	if (end == MINIMISE_DONE && b->is_in_line && model_is_ported(e->walk->model))
		b->kind = "porting";
	return end;
}
