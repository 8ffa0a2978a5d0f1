/* Finds out whether a location is a commit variable: runs recovery with its old and with its new
 * value, and compares what recovery reads. The location is called the suspect. Example: the program
 * stores data, makes it durable, and stores valid = 1. With valid == 0, recovery does not read
 * data; with valid == 1 it does. So valid decides whether data is read, and reading valid while it
 * may be lost is right.
 *
 * The suspect is a commit variable if
 *   (a) its value decides what else recovery reads; and with the old value, recovery reads nothing
 *       that was stored after the suspect. Of undurable data that was stored since the commit write
 *       before, recovery with the old value reads nothing before it looks at the suspect, and
 *       nothing that it would not read with the new value, too;
 *   (b) the program makes the suspect's value durable before it writes the next;
 *   (c) the suspect is not stored inside a transaction that does not undo it.
 * Durable data may have been committed by another variable: reading it with the old value proves
 * nothing. Data that is read with both values is a question of its own.
 *
 * The value may decide what is used instead of what is read: durable data was stored before the
 * suspect, recovery reads it with both values, and with the suspect old the data may have any
 * value. A lost value that is zero can look like that, too. So there is one more test: with any
 * other value of the suspect, recovery must end as with its old or its new value.
 *
 * A suspect that decides nothing may still be intended: one atomic store replaced it, and with its
 * old value recovery reads nothing that was stored later. Then recovery finds what the program had
 * right before or right after that store, as if the crash had come then. Recovery must accept that
 * state, and the old value must have been stored by somebody: memory from an allocator does not
 * count.
 *
 * The runtime watches everything that was stored. So reads of durable bytes are listed like reads
 * of undecided ones. */
#include "crash/races/infer.h"

#include "crash/races/unused.h"
#include "crash/races/word_states.h"
#include "util/order.h"

#include <stdlib.h>
#include <string.h>

#define WATCHED_MAX 512u /* lines */
#define PARTS_MAX 4u     /* words of a race that are asked about one by one */
/* words that may be used only because of the suspect, and are asked about one by one */
#define WITHHELD_MAX 4u

/* Bytes of a line that recovery read. */
struct reads {
	uint64_t old, new; /* read in the run with that value */
	uint64_t first;    /* read with the old value before the suspect was read */
};

struct inquiry {
	struct explorer *e;
	struct infer_common *common;
	const struct suspect *suspect;
	const struct histories *histories;
	size_t number; /* index of the suspect's history */
	const struct history *history;
	struct reads *reads;             /* by line of the histories */
	const struct suspects *harmless; /* other words, whose values do not matter */
	const struct suspects *parts;    /* all words of the suspect's race */
	/* the runs with the old and the new value count; recovery accepts both */
	bool is_sound, is_accepted;
	/* both values lead to the same dump; without a dump, to the same files except the suspect,
	 * and the same exit status */
	bool is_without_effect;
	uint64_t ndoubtful; /* stores to the suspect that may be lost */
	uint64_t first_seq; /* the first of these stores */
	/* each of these stores wrote one word, and its thread made it durable */
	bool is_kept;
	uint64_t nothers;     /* words of other stores that may be lost */
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

/* Finds the reads of a line; NULL: nothing was stored in that line. */
static struct reads *reads_of(const struct inquiry *q, uint64_t line)
{
	size_t i = histories_line(q->histories, line);

	return i == SIZE_MAX ? NULL : &q->reads[i];
}

/* Notes the reads of the run with the old value. */
static void note_reads(struct inquiry *q, const struct state_set *set)
{
	const struct run_decision *d;
	size_t n = runner_decisions(q->e->runner, &d);
	bool is_after = false;

	for (size_t i = 0; i < n; i++) {
		/* an access reads all its bytes at once, whichever of them differ */
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
		/* the line is larger than HISTORY_LINE */
		if (at && d[i].mask >> (HISTORY_LINE - at))
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

/* Runs recovery with nothing lost, once for all suspects. */
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

/* Are all later stores to the line lost whenever the suspect is? */
static bool is_followed(const struct suspect *s, const struct state_set *set)
{
	const struct state_line *l = states_line(set, s->addr);
	uint32_t n_new = 0;

	for (uint32_t c = 0; l && c < l->ncontents; c++)
		n_new += word_is_newest(set, l, s, c);
	return n_new > 1;
}

/* Can the difference between old and new come from the suspect itself, or from stores that are lost
 * with it? */
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

/* Is the store one that a transaction does not undo? It decides nothing, because the rest of the
 * transaction may be undone. */
static bool is_unlogged(const struct inquiry *q)
{
	return q->common->nunlogged &&
	       bsearch(&q->suspect->seq, q->common->unlogged, q->common->nunlogged,
		       sizeof *q->common->unlogged, order_u64);
}

/* Runs recovery with the old value on a whole image, which is faster but only tells how recovery
 * ends. */
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

/* Leaves out bytes that PMDK last stored for itself: they lead only to PMDK's own code. */
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

/* Is the word of this byte harmless? Whole words count, because bytes on which the contents agree
 * belong to the word. */
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

/* Gives the bytes in which all contents of the suspect's line agree: of the contents where the
 * suspect is new, or of those where it is old. `line` is one of 64 bytes. */
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

/* Leaves out bytes that the order of stores in the line ties to the suspect: later stores, which
 * are lost whenever it is, and earlier ones, which are there whenever it is. */
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
	/* if one thread made several such stores, it did not wait until the first was durable */
	q->is_kept &= !plan_is_unkept(q->e->walk->plan, s->seq) && s->size_bytes <= 8 &&
		      s->addr / 8 == (s->addr + s->size_bytes - 1) / 8;
}

/* Did somebody store the old value? */
static bool had_value(const struct inquiry *q, const struct history *h)
{
	return h->was_stored == q->suspect->mask ||
	       history_begins_with_zero(q->e->walk, q->suspect);
}

/* Did one atomic store replace the word, from one value to another? */
static bool is_replaced(struct inquiry *q)
{
	q->ndoubtful = q->first_seq = 0;
	q->is_kept = true;
	model_each(q->e->walk->model, q->suspect->addr, HISTORY_LINE, count_doubtful, q);
	return q->history->is_atomic && q->ndoubtful == 1 && q->is_accepted &&
	       had_value(q, q->history);
}

/* Did the last run read nothing that was stored after the event, except the suspect and harmless
 * words? */
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

/* Did the word have a value before that store, and did the store replace all of it? */
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

/* Handles a word that several threads replaced, one after the other, with nothing durable yet. 1:
 * with each older value, recovery finds what the program had right before one of these stores. -1:
 * error. */
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

/* Asks before any run: was something stored that would refute the suspect if recovery read it? */
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

/* What the reads say about the suspect. */
struct findings {
	bool is_refuted;
	bool differs; /* the suspect's value decides what else is read */
	/* words that are tied to the suspect and read before it seem not to be used */
	bool may_guard;
	bool is_led_to; /* something else that may be lost leads recovery to the suspect */
	bool is_tied;   /* the same, if words that are tied to the suspect count */
	/* with the old value, recovery reads what was stored later in its line and is lost with
	 * it */
	bool is_followed;
	/* with the old value, recovery reads something later, which is harmless */
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
		/* reads of the suspect itself may differ from run to run */
		f.differs |= without_library(q, addr, r->old ^ r->new) != 0;
		f.may_guard |=
			(tied & recent) != 0 && without_harmless(q, addr, tied & recent) == 0;
		f.is_led_to |= is_undecided(
			q, addr, without_library(q, addr, without_harmless(q, addr, first)));
		f.is_tied |= is_undecided(q, addr, without_harmless(q, addr, tied));
	}
	return f;
}

/* Does recovery read the suspect even if its whole line is as old as possible? 1: yes; -1:
 * error. */
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

/* Are harmless words also harmless if the suspect is old? 1: yes; -1: error. */
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

/* Words that were stored before the suspect, the last stored first. */
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

/* Adds the given bytes of a line as aligned words of 8 bytes: those that may be lost, or those that
 * are durable. */
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

/* Does the suspect's value decide whether recovery uses durable data that it reads with both
 * values? Example: a snapshot, which counts only if its key is found. 1: yes; -1: error. */
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

/* Some words were stored before the suspect, are lost with it, and are read before it. Does the
 * suspect's value decide whether one of them is used? 1: yes. 0: nobody uses them whatever the
 * value is, or it is unknown. -1: error. */
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

/* Judges a suspect about which the reads say nothing: compares what recovery uses. */
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

/* Can a crash here lose nothing but the suspect, and harmless words? */
static bool is_alone(struct inquiry *q)
{
	model_each(q->e->walk->model, 0, UINT64_MAX, count_others, q);
	return q->nothers == 0;
}

/* Does an earlier result hold here without asking what recovery reads? 1: yes. 0: recovery must be
 * asked. -1: error. */
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
