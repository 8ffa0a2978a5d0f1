/* Runs recovery with the old and with the new value of a location, and compares what it reads. The
 * location is a commit variable if
 *   (a) its value decides what else recovery reads of what was stored; and with its old value,
 *   recovery reads nothing that was stored
 *       after it, and of what was stored since the commit write before and is not durable, nothing
 *       before it looks at the variable and nothing that it would not read with the new value, too;
 *   (b) the program makes its value durable before it writes the next;
 *   (c) it is not stored inside a transaction that does not undo it.
 * What is durable by then may have been committed by others: reading it with the old value says
 * nothing. What is read with both values is a matter of its own. Instead of what is read, the value
 * may decide what is used of it: durable data that was stored before the suspect, and that recovery
 * reads with both values, may have any value as long as the suspect is old. A lost value that is
 * zero can look like that, too; so any other value of the suspect must do as its old or its new one
 * does.
 * One that decides nothing may still be meant so: if it was replaced by one atomic store, and with
 * its old value recovery reads nothing that was stored later, then it finds what the program had
 * before that store, or what it had after it, as if the crash had come then. That must be a state
 * that recovery accepts, and the old value must have been somebody's: not what an allocator handed
 * out. What was stored is watched, so reads of durable bytes count as much as those of undecided
 * ones. */
#include "crash/races/infer.h"

#include "crash/races/unused.h"
#include "crash/races/word_states.h"
#include "util/order.h"

#include <stdlib.h>
#include <string.h>

#define WATCHED_MAX 512u /* lines */
#define PARTS_MAX 4u     /* of a race, to be asked about one by one */
/* words that may be used only because of the suspect, to be asked about one by one */
#define WITHHELD_MAX 4u

/* Bytes of a line that recovery read. */
struct reads {
	uint64_t old, new; /* with that value */
	uint64_t first;    /* with the old value, before the suspect was read */
};

struct inquiry {
	struct explorer *e;
	struct infer_common *common;
	const struct suspect *suspect;
	const struct histories *histories;
	size_t number; /* of the suspect's history: */
	const struct history *history;
	struct reads *reads;             /* by line of the histories */
	const struct suspects *harmless; /* other words, whose values do not matter */
	const struct suspects *parts;    /* all words of the suspect's race */
	bool is_sound, is_accepted;      /* with the old value and with the new one */
	/* what a dump prints is the same with both; without one, all of the files but the suspect,
	 * and the exit status */
	bool is_without_effect;
	uint64_t ndoubtful;   /* stores to it that may be lost */
	uint64_t first_seq;   /* of these, the first one */
	bool is_kept;         /* each of these stored one word, and is made durable by its thread */
	uint64_t nothers;     /* words of other stores that may be */
	uint64_t old_outcome; /* how recovery ends with the old value */
};

/* ---- what was stored ---- */

struct watching {
	struct state_set *set;
	const struct walk *walk;
};

static void watch(uint64_t addr, uint64_t mask, void *arg)
{
	const struct watching *to = arg;

	states_watch(to->set, &to->walk->image, addr, mask);
}

void infer_watch(struct state_set *set, const struct walk *w)
{
	struct watching to = { set, w };

	shadow_each_stored(w->shadow, WATCHED_MAX, watch, &to);
}

void infer_prepare(const struct explorer *e, struct infer_common *c, const struct suspect *list,
		   size_t n)
{
	if (n > 0 && histories_find(&c->histories, &list[0]) == SIZE_MAX)
		histories_take(&c->histories, e->walk, list, n);
}

static void look_back(struct inquiry *q)
{
	infer_prepare(q->e, q->common, q->suspect, 1);
	q->histories = &q->common->histories;
	q->number = histories_find(q->histories, q->suspect);
	q->history = &q->histories->list[q->number];
	q->reads = xcalloc(q->histories->lines.n + 1, sizeof *q->reads);
}

/* ---- what is read ---- */

/* NULL: nothing was stored there. */
static struct reads *reads_of(const struct inquiry *q, uint64_t line)
{
	size_t i = histories_line(q->histories, line);

	return i == SIZE_MAX ? NULL : &q->reads[i];
}

/* With the old value. */
static void note_reads(struct inquiry *q, const struct state_set *set)
{
	const struct run_decision *d;
	size_t n = runner_decisions(q->e->runner, &d);
	bool is_after = false;

	for (size_t i = 0; i < n; i++) {
		/* what one access reads, it reads at once, whichever of its bytes differ */
		for (uint64_t m = d[i].mask; m; m &= m - 1)
			is_after |= suspect_touches(q->suspect,
						    set->lines.at[d[i].line].addr + d[i].at +
							    (uint64_t)__builtin_ctzll(m),
						    1);
		for (uint64_t m = d[i].mask; m; m &= m - 1) {
			uint64_t addr = set->lines.at[d[i].line].addr + d[i].at +
					(uint64_t)__builtin_ctzll(m),
				 line = addr / HISTORY_LINE * HISTORY_LINE;
			struct reads *r = reads_of(q, line);

			if (r)
				r->old |= (uint64_t)1 << addr % HISTORY_LINE;
			if (r && !is_after)
				r->first |= (uint64_t)1 << addr % HISTORY_LINE;
		}
	}
}

static void keep_reads(struct infer_common *c, const struct explorer *e)
{
	const struct run_decision *d;
	size_t n = runner_decisions(e->runner, &d);

	for (size_t i = 0; i < n; i++) {
		uint64_t addr = c->set->lines.at[d[i].line].addr + d[i].at,
			 at = addr % HISTORY_LINE;

		*vec_add(&c->reads) = (struct infer_read){ addr - at, d[i].mask << at };
		if (at && d[i].mask >> (HISTORY_LINE - at)) /* of a larger line */
			*vec_add(&c->reads) =
				(struct infer_read){ addr - at + HISTORY_LINE,
						     d[i].mask >> (HISTORY_LINE - at) };
	}
}

void infer_note_newest(struct infer_common *c, const struct explorer *e, struct state_set *set,
		       const struct verdict *v)
{
	c->set = set;
	c->is_run = true;
	c->is_sound = !v->why_unsound;
	c->is_accepted = v->kind == VERDICT_OK;
	c->outcome = v->outcome;
	c->content = e->recovery->dump ? 0 : runner_content(e->runner, 0, 0);
	keep_reads(c, e);
}

/* Recovery with nothing lost, once for all suspects. */
static int run_common(struct inquiry *q, struct error *err)
{
	struct infer_common *c = q->common;
	struct explorer *e = q->e;
	struct verdict v;
	uint64_t *all;
	int result;

	if (c->is_run)
		return 0;
	states_collect(&c->own, e->walk->model, &e->asked);
	infer_watch(&c->own, e->walk);
	states_sort(&c->own);
	all = states_all(&c->own);
	runner_load(e->runner, &e->walk->image, &c->own);
	result = explorer_ask(e, all, &v, err);
	free(all);
	if (result == 0)
		infer_note_newest(c, e, &c->own, &v);
	return result;
}

static bool is_same_end(const struct inquiry *q, const struct verdict *v)
{
	return v->outcome == q->common->outcome &&
	       (q->e->recovery->dump ? 0 : runner_content(q->e->runner, 0, 0)) ==
		       q->common->content;
}

/* All stores to the line that come after the word's are lost with it. */
static bool is_followed(const struct suspect *s, const struct state_set *set)
{
	const struct state_line *l = states_line(set, s->addr);
	uint32_t n_new = 0;

	for (uint32_t c = 0; l && c < l->ncontents; c++)
		n_new += word_is_newest(set, l, s, c);
	return n_new > 1;
}

/* Is the difference between old and new that of the suspect itself, or of what is lost with it? */
static bool is_worth_asking(const struct inquiry *q, const struct verdict *old)
{
	return q->is_sound && !q->is_without_effect && q->is_accepted && q->parts->n <= PARTS_MAX &&
	       (old->outcome == q->common->outcome || is_followed(q->suspect, q->common->set));
}

static int run_old(struct inquiry *q, struct error *err)
{
	const struct state_set *set = q->common->set;
	uint64_t *left = word_old_states(q->suspect, set);
	struct verdict v;
	int result = explorer_ask(q->e, left, &v, err);

	if (result == 0) {
		q->is_sound = q->common->is_sound && !v.why_unsound;
		q->is_accepted = q->common->is_accepted && v.kind == VERDICT_OK;
		q->is_without_effect = is_same_end(q, &v);
		q->old_outcome = v.outcome;
		note_reads(q, set);
		for (size_t i = 0; i < q->common->reads.n; i++) {
			struct reads *r = reads_of(q, q->common->reads.at[i].line);

			if (r)
				r->new |= q->common->reads.at[i].mask;
		}
		if (is_worth_asking(q, &v)) {
			const int is_unused = unused_ask(q->e, q->common->set, q->parts, err);

			q->is_without_effect = is_unused == 1;
			result = is_unused < 0 ? -1 : 0;
		}
	}
	free(left);
	return result;
}

/* A store that a transaction does not undo decides nothing: the rest of the transaction may be
 * undone. */
static bool is_unlogged(const struct inquiry *q)
{
	return q->common->nunlogged &&
	       bsearch(&q->suspect->seq, q->common->unlogged, q->common->nunlogged,
		       sizeof *q->common->unlogged, order_u64);
}

/* On a whole image: cheaper, but tells only how it ends. */
static int run_whole(const struct inquiry *q, struct verdict *v, struct error *err)
{
	const struct state_set *set = q->common->is_run ? q->common->set : &q->e->set;
	uint64_t *state = word_old_states(q->suspect, set);
	int result;

	states_keep_newest(set, state);
	result = explorer_try(q->e, state, v, err);
	free(state);
	return result;
}

/* ---- the verdict ---- */

static bool is_undecided(const struct inquiry *q, uint64_t line, uint64_t bytes)
{
	for (; bytes; bytes &= bytes - 1)
		if (!model_is_durable(q->e->walk->model, line + (uint64_t)__builtin_ctzll(bytes),
				      1))
			return true;
	return false;
}

/* Without what PMDK stored last, for itself: where that leads, its own code goes. */
static uint64_t without_library(const struct inquiry *q, uint64_t line, uint64_t bytes)
{
	for (uint64_t m = bytes; m; m &= m - 1) {
		const struct trace_site *site =
			shadow_byte(q->e->walk->shadow, line + (uint64_t)__builtin_ctzll(m))
				.last.site;

		if (site && site->id < q->common->nlibrary_sites &&
		    q->common->library_sites[site->id])
			bytes &= ~(m & -m);
	}
	return bytes;
}

/* By words: bytes on which the contents agree belong to it. */
static bool is_harmless(const struct inquiry *q, uint64_t addr)
{
	for (size_t i = 0; i < q->harmless->n; i++)
		if (suspect_touches(&q->harmless->at[i], addr / 8 * 8, 8))
			return true;
	return false;
}

static uint64_t without_harmless(const struct inquiry *q, uint64_t line, uint64_t bytes)
{
	for (uint64_t m = q->harmless->n ? bytes : 0; m; m &= m - 1)
		if (is_harmless(q, line + (uint64_t)__builtin_ctzll(m)))
			bytes &= ~(m & -m);
	return bytes;
}

/* Bytes of the suspect's line on whose values all contents agree, of those in which the suspect is
 * new, or of those in which it is old. Of a line of 64 bytes. */
static uint64_t agreed(const struct inquiry *q, uint64_t line, bool is_new)
{
	const struct state_set *set = q->common->set;
	const struct state_line *l = states_line(set, q->suspect->addr);
	const uint8_t *first = NULL;
	uint64_t bytes = ~(uint64_t)0;

	if (!l || line < l->addr || line - l->addr >= set->line_bytes)
		return 0;
	for (uint32_t c = 0; c < l->ncontents; c++) {
		const uint8_t *content = state_content(set, l, c) + (line - l->addr);

		if (word_is_newest(set, l, q->suspect, c) != is_new)
			continue;
		for (uint32_t i = 0; first && i < HISTORY_LINE; i++)
			if (content[i] != first[i])
				bytes &= ~((uint64_t)1 << i);
		first = content;
	}
	return bytes;
}

/* Without the bytes that the order of stores in a line ties to the suspect: those stored later,
 * which are lost whenever it is; and those stored before, which are there whenever it is. */
static uint64_t without_tied(const struct inquiry *q, uint64_t line, const struct history_line *l,
			     uint64_t bytes)
{
	if (!bytes ||
	    line / q->common->set->line_bytes != q->suspect->addr / q->common->set->line_bytes)
		return bytes;
	for (uint64_t m = bytes &
			  ((l->late & agreed(q, line, false)) | (~l->late & agreed(q, line, true)));
	     m; m &= m - 1)
		if (is_undecided(q, line, m & -m))
			bytes &= ~(m & -m);
	return bytes;
}

static void count_doubtful(const struct model_store *s, void *arg)
{
	struct inquiry *q = arg;

	if (!suspect_touches(q->suspect, s->addr, s->size_bytes))
		return;
	q->ndoubtful++;
	q->first_seq = q->first_seq && q->first_seq < s->seq ? q->first_seq : s->seq;
	/* several of one thread: it does not wait until the first is durable */
	q->is_kept &= !plan_is_unkept(q->e->walk->plan, s->seq) && s->size_bytes <= 8 &&
		      s->addr / 8 == (s->addr + s->size_bytes - 1) / 8;
}

/* The old value was somebody's. */
static bool had_value(const struct inquiry *q, const struct history *h)
{
	return h->was_stored == q->suspect->mask ||
	       history_begins_with_zero(q->e->walk, q->suspect);
}

/* Replaced at once, from something to something. */
static bool is_replaced(struct inquiry *q)
{
	q->ndoubtful = q->first_seq = 0;
	q->is_kept = true;
	model_each(q->e->walk->model, q->suspect->addr, HISTORY_LINE, count_doubtful, q);
	return q->history->is_atomic && q->ndoubtful == 1 && q->is_accepted &&
	       had_value(q, q->history);
}

/* Nothing that the last run read was stored after the event, but for the suspect and what does not
 * matter. */
static bool reads_nothing_since(const struct inquiry *q, uint64_t seq)
{
	const struct state_set *set = q->common->set;
	const struct run_decision *d;
	const size_t n = runner_decisions(q->e->runner, &d);

	for (size_t i = 0; i < n; i++)
		for (uint64_t m = d[i].mask; m; m &= m - 1) {
			const uint64_t addr = set->lines.at[d[i].line].addr + d[i].at +
					      (uint64_t)__builtin_ctzll(m);

			const uint64_t last = shadow_byte(q->e->walk->shadow, addr).last.seq;

			if (last > seq && last != q->suspect->seq && !is_harmless(q, addr))
				return false;
		}
	return true;
}

/* The word had a value before that store, which replaced all of it. */
static bool was_value_before(const struct inquiry *q, uint64_t seq)
{
	struct suspect first = *q->suspect;
	struct histories h = { 0 };
	bool is_true;

	first.seq = seq;
	histories_take(&h, q->e->walk, &first, 1);
	is_true = h.list[0].is_atomic && had_value(q, &h.list[0]);
	histories_release(&h);
	return is_true;
}

/* Several threads replaced the word, one after the other, and none of that is durable. 1: with each
 * older value, recovery finds what the program had just before some of these stores; -1: error. */
static int is_replaced_often(struct inquiry *q, struct error *err)
{
	const struct state_line *l = states_line(q->common->set, q->suspect->addr);
	uint64_t *left;
	struct verdict v;
	int result = 1;

	if (!l || q->ndoubtful < 2 || !q->is_kept || !q->is_accepted || !q->history->is_atomic ||
	    !was_value_before(q, q->first_seq))
		return 0;
	for (uint32_t c = 0; c < l->ncontents && result == 1; c++) {
		if (word_is_newest(q->common->set, l, q->suspect, c))
			continue;
		left = states_all(q->common->set);
		states_only(l, left, c);
		result = explorer_ask(q->e, left, &v, err) < 0
				 ? -1
				 : !v.why_unsound && v.kind == VERDICT_OK &&
					   reads_nothing_since(q, q->first_seq);
		free(left);
	}
	return result;
}

/* Before any run: something was stored that would tell against it if recovery read it. */
static bool is_refutable(const struct inquiry *q)
{
	if (plan_is_unkept(q->e->walk->plan, q->suspect->seq))
		return true;
	for (size_t i = 0; i < q->histories->lines.n; i++) {
		const struct history_line *l = histories_cell(q->histories, i, q->number);
		const uint64_t addr = q->histories->lines.at[i];

		if (without_harmless(q, addr, l->late) ||
		    (l->epoch == q->history->epoch &&
		     is_undecided(q, addr, without_harmless(q, addr, l->recent))))
			return true;
	}
	return false;
}

/* What reads tell about the suspect. */
struct findings {
	bool is_refuted;
	bool differs; /* its value decides what else is read */
	/* words that are tied to it and are read before it are not used, as far as is known */
	bool may_guard;
	bool is_led_to; /* by something else that is in doubt */
	bool is_tied;   /* ... if what is tied to it counts */
	/* with the old value, recovery reads what was stored later in its line, and is lost with
	 * it */
	bool is_followed;
	/* with the old value, recovery reads something that was stored later, which does not
	 * matter */
	bool reads_harmless;
};

static struct findings find(const struct inquiry *q)
{
	struct findings f = { .is_refuted = plan_is_unkept(q->e->walk->plan, q->suspect->seq) };

	for (size_t i = 0; i < q->histories->lines.n && !f.is_refuted; i++) {
		const struct history_line *l = histories_cell(q->histories, i, q->number);
		const uint64_t addr = q->histories->lines.at[i],
			       recent = l->epoch == q->history->epoch ? l->recent : 0;
		const struct reads *r = &q->reads[i];
		const uint64_t first = without_tied(q, addr, l, r->first), tied = r->first & ~first,
			       late = without_tied(q, addr, l, l->late & r->old);

		f.is_refuted =
			without_harmless(q, addr, late) ||
			is_undecided(
				q, addr,
				without_harmless(q, addr, recent & (first | (r->old & ~r->new))));
		f.reads_harmless |= late != 0;
		f.is_followed |= without_harmless(q, addr, l->late & r->old & ~late) != 0;
		/* its own reads differ from run to run */
		f.differs |= without_library(q, addr, r->old ^ r->new) != 0;
		f.may_guard |=
			(tied & recent) != 0 && without_harmless(q, addr, tied & recent) == 0;
		f.is_led_to |= is_undecided(
			q, addr, without_library(q, addr, without_harmless(q, addr, first)));
		f.is_tied |= is_undecided(q, addr, without_harmless(q, addr, tied));
	}
	return f;
}

/* 1: recovery reads the suspect even if everything in its line is as old as can be; -1: error. */
static int is_read_anyway(const struct inquiry *q, struct error *err)
{
	const struct state_set *set = q->common->set;
	const struct state_line *l = states_line(set, q->suspect->addr);
	uint64_t *left = states_all(set);
	const struct run_decision *d;
	struct verdict v;
	int result;

	if (l)
		states_only(l, left, 0);
	result = l ? explorer_ask(q->e, left, &v, err) : 0;
	free(left);
	for (size_t i = 0,
		    n = l && result == 0 && !v.why_unsound ? runner_decisions(q->e->runner, &d) : 0;
	     i < n; i++)
		for (uint64_t m = d[i].mask; m; m &= m - 1)
			if (suspect_touches(q->suspect,
					    set->lines.at[d[i].line].addr + d[i].at +
						    (uint64_t)__builtin_ctzll(m),
					    1))
				return 1;
	return result < 0 ? -1 : 0;
}

/* 1: harmless words are so with the suspect old, too; -1: error. */
static int stay_harmless(const struct inquiry *q, struct error *err)
{
	const struct state_set *set = q->common->set;
	uint64_t *state = word_old_states(q->suspect, set);
	struct verdict v;
	int result;

	for (size_t i = 0; i < q->harmless->n; i++)
		word_make_old(&q->harmless->at[i], set, state);
	states_keep_newest(set, state);
	result = explorer_try(q->e, state, &v, err);
	free(state);
	return result < 0 ? -1 : !v.why_unsound && v.outcome == q->old_outcome;
}

/* Words that were stored before the suspect; the last ones first. */
struct before_suspect {
	struct suspect words[WITHHELD_MAX];
	size_t n;
};

static void note_before(struct before_suspect *b, const struct suspect *word)
{
	size_t at = b->n < WITHHELD_MAX ? b->n++ : WITHHELD_MAX;

	for (; at > 0 && b->words[at - 1].seq < word->seq; at--)
		if (at < WITHHELD_MAX)
			b->words[at] = b->words[at - 1];
	if (at < WITHHELD_MAX)
		b->words[at] = *word;
}

/* bytes: of the line. By aligned words of 8 bytes; those that may be lost, or those that are
 * durable. */
static void note_words(const struct inquiry *q, struct before_suspect *b, uint64_t line,
		       uint64_t bytes, bool may_be_lost)
{
	const struct state_line *l = states_line(q->common->set, line);

	for (uint32_t at = 0; l && at < HISTORY_LINE; at += 8) {
		const uint64_t mask = bytes >> at & 0xff;

		if (mask && is_undecided(q, line, mask << at) == may_be_lost)
			note_before(b,
				    &(struct suspect){
					    l->addr, (uint32_t)(line - l->addr) + at, mask,
					    shadow_byte(q->e->walk->shadow,
							line + at + (uint64_t)__builtin_ctzll(mask))
						    .last.seq });
	}
}

/* 1: the suspect's value decides whether recovery uses some durable data that was stored before it,
 * and that recovery reads with both values, as a snapshot that counts only if its key is found; -1:
 * error. */
static int withholds(const struct inquiry *q, struct error *err)
{
	struct before_suspect b = { .n = 0 };
	int result = 0, is_switch;

	for (size_t i = 0; i < q->histories->lines.n; i++) {
		const struct history_line *l = histories_cell(q->histories, i, q->number);
		const uint64_t addr = q->histories->lines.at[i],
			       recent = l->epoch == q->history->epoch ? l->recent & ~l->late : 0;

		note_words(q, &b, addr,
			   without_library(q, addr, recent & q->reads[i].old & q->reads[i].new),
			   false);
	}
	is_switch = b.n ? unused_is_switch(q->e, q->common->set, q->suspect, err) : 0;
	if (is_switch <= 0)
		return is_switch;
	for (size_t i = 0; i < b.n && result == 0 && explorer_may_run(q->e); i++)
		result = unused_unless_new(q->e, q->common->set, q->suspect, &b.words[i], err);
	return result;
}

/* 1: of the words that were stored before the suspect, are lost with it and are read before it, its
 * value decides whether one is used. 0: nobody uses them, whatever the suspect is, or that
 * cannot be told. -1: error. */
static int guards(const struct inquiry *q, struct error *err)
{
	struct before_suspect b = { .n = 0 };
	int result = 0;

	for (size_t i = 0; i < q->histories->lines.n; i++) {
		const struct history_line *l = histories_cell(q->histories, i, q->number);
		const uint64_t addr = q->histories->lines.at[i], first = q->reads[i].first,
			       recent = l->epoch == q->history->epoch ? l->recent : 0;

		note_words(q, &b, addr, first & ~without_tied(q, addr, l, first) & recent, true);
	}
	for (size_t i = 0; i < b.n && result == 0 && explorer_may_run(q->e); i++)
		result = unused_unless_new(q->e, q->common->set, q->suspect, &b.words[i], err);
	return result;
}

/* Nothing that recovery reads tells what the suspect is. */
static enum inference compare_uses(const struct inquiry *q, const struct findings *f,
				   struct error *err)
{
	const int is_true = q->is_accepted && !f->is_followed ? withholds(q, err) : 0;

	return is_true < 0 ? INFER_ERROR : is_true ? INFER_COMMIT : INFER_NOTHING;
}

static enum inference compare(struct inquiry *q, struct error *err)
{
	const struct findings f = find(q);
	int is_true = 1, is_often = 0, is_guard = 0;

	if (f.is_refuted)
		return INFER_REFUTED;
	if (f.reads_harmless)
		is_true = stay_harmless(q, err);
	if (is_true <= 0)
		return is_true < 0 ? INFER_ERROR : INFER_REFUTED;
	if (f.may_guard && !f.differs)
		is_guard = guards(q, err);
	if (is_guard < 0)
		return INFER_ERROR;
	if (f.differs || is_guard)
		return f.is_followed ? INFER_REFUTED : INFER_COMMIT;
	if (!f.is_led_to && !is_replaced(q))
		is_often = is_replaced_often(q, err);
	if (is_often)
		return is_often < 0 ? INFER_ERROR : INFER_ATOMIC;
	if (f.is_led_to || !is_replaced(q))
		return compare_uses(q, &f, err);
	if (f.is_tied)
		is_true = is_read_anyway(q, err);
	return is_true < 0 ? INFER_ERROR : is_true ? INFER_ATOMIC : compare_uses(q, &f, err);
}

static void count_others(const struct model_store *s, void *arg)
{
	struct inquiry *q = arg;

	for (uint64_t at = s->addr / 8 * 8;
	     s->seq != q->suspect->seq && at < s->addr + s->size_bytes; at += 8)
		q->nothers += !is_harmless(q, at);
}

/* Nothing leads recovery to the suspect that may be lost. */
static bool is_alone(struct inquiry *q)
{
	model_each(q->e->walk->model, 0, UINT64_MAX, count_others, q);
	return q->nothers == 0;
}

/* Does what was found before hold without asking what is read? 1: yes; 0: ask. */
static int confirm(struct inquiry *q, enum inference before, struct error *err)
{
	const bool is_safe = before != INFER_NOTHING && !is_refutable(q);
	struct verdict v;

	if (is_safe && (before == INFER_COMMIT || before == INFER_HARMLESS))
		return 1;
	if (is_safe && before == INFER_ATOMIC) {
		q->is_accepted = q->common->is_accepted;
		if (!is_replaced(q) || !is_alone(q))
			return 0;
		if (run_whole(q, &v, err) < 0)
			return -1;
		return !v.why_unsound && v.kind == VERDICT_OK;
	}
	if (before == INFER_HARMLESS && q->common->is_run) {
		if (run_whole(q, &v, err) < 0)
			return -1;
		return q->common->is_sound && !v.why_unsound && is_same_end(q, &v);
	}
	return 0;
}

enum inference infer_commit(struct explorer *e, struct infer_common *c, const struct suspect *s,
			    const struct suspects *parts, const struct suspects *harmless,
			    enum inference before, struct error *err)
{
	struct inquiry q = {
		.e = e, .common = c, .suspect = s, .parts = parts, .harmless = harmless
	};
	enum inference result = INFER_ERROR;
	int confirmed;

	look_back(&q);
	confirmed = is_unlogged(&q) ? 0 : confirm(&q, before, err);
	if (confirmed < 0)
		goto out;
	q.ndoubtful = 0;
	if (confirmed)
		result = INFER_UNASKED;
	else if (run_common(&q, err) == 0 && run_old(&q, err) == 0)
		result = !q.is_sound           ? INFER_NOTHING
			 : q.is_without_effect ? INFER_HARMLESS
			 : is_unlogged(&q)     ? INFER_REFUTED
					       : compare(&q, err);
out:
	free(q.reads);
	return result;
}

void infer_common_release(struct infer_common *c)
{
	states_release(&c->own);
	histories_release(&c->histories);
	vec_release(&c->reads);
}
